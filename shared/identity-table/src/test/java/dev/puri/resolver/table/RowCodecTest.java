package dev.puri.resolver.table;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class RowCodecTest {
    private static final int ROUNDS = 50_000;

    private final Dictionaries dictionaries = new Dictionaries();
    private final RowCodec codec = new RowCodec(dictionaries);
    private final byte[] buffer = new byte[RowCodec.MAX_BYTES];

    @Test
    void decodesAnyRowAsEncoded() {
        long seed = new Random().nextLong();
        AnyRows rows = new AnyRows(new Random(seed));
        for (int i = 0; i < ROUNDS; i++) {
            Identity identity = rows.identity();
            // No bytes of the previous row may remain.
            byte[] record = encode(identity, seed);

            assertThat(codec.decode(record)).as("seed %d", seed).isEqualTo(identity);
            assertThat(codec.decode(
                            record,
                            parts(record),
                            identity.puri(),
                            identity.row().handle()))
                    .as("seed %d", seed)
                    .isEqualTo(identity);
            assertThat(record.length).as("seed %d", seed).isEqualTo((record[0] & 0xFF) * Slab.UNIT_BYTES);
        }
    }

    @Test
    void recordMatchesOnlyItsOwnNameAndHandle() {
        long seed = new Random().nextLong();
        AnyRows rows = new AnyRows(new Random(seed));
        for (int i = 0; i < ROUNDS; i++) {
            Identity one = rows.identity();
            Identity other = rows.identity();
            byte[] record = encode(one, seed);

            assertThat(new PuriKey(one.puri(), dictionaries, seed).matches(record))
                    .as("seed %d", seed)
                    .isTrue();
            assertThat(new PuriKey(other.puri(), dictionaries, seed).matches(record))
                    .as("seed %d", seed)
                    .isEqualTo(one.puri().equals(other.puri()));
            assertThat(bears(record, one.row(), seed))
                    .as("seed %d", seed)
                    .isEqualTo(one.row().handle() != null);
            assertThat(bears(record, other.row(), seed)).as("seed %d", seed).isFalse();
        }
    }

    private boolean bears(byte[] record, Row row, long seed) {
        return row.handle() != null
                && HandleKey.of(row.handle(), dictionaries, seed).matches(record);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 1",
        "7, 2",
        "123456789, 5",
        "999999999999999999, 9",
        "007, 4",
        "0007, 3",
        "1234567890123456789, 20",
        "12345678901234567890, 11",
        "deadbeef, 5",
        "deadbee, 8",
        "0197b2c4-5a3e-7c11-8a2b-1f2e3d4c5b6a, 17",
        "0197b2c45a3e7c118a2b1f2e3d4c5b6a, 17",
        "song-7, 7"
    })
    void storesDecimalIdentifiersAsNumbers(String identifier, int bytes) {
        byte[] text = identifier.getBytes(StandardCharsets.US_ASCII);
        byte[] out = new byte[Identifier.maxBytes(text.length)];

        assertThat(Identifier.pack(text, 0, text.length, out, 0)).isEqualTo(bytes);
        assertThat(Identifier.end(out, 0)).isEqualTo(bytes);
        assertThat(Identifier.unpack(out, 0)).isEqualTo(identifier);
    }

    @Test
    void aPlainRowWithAHandleTakes48Bytes() {
        Identity identity = new Identity(
                Puri.parse("soundcloud:tracks:123456789"), SomeRows.active("br-1", new Handle("trk_4k7vx9tz2nqr8w3")));

        assertThat(encode(identity, 0)).hasSize(48);
    }

    private RecordParts parts(byte[] record) {
        RecordParts parts = new RecordParts(dictionaries);
        parts.read(record);
        return parts;
    }

    private byte[] encode(Identity identity, long seed) {
        RawRow raw = new RawRow(dictionaries, seed);
        raw.set(identity.puri(), identity.row());
        return Arrays.copyOf(buffer, codec.encode(raw, buffer, 0));
    }
}

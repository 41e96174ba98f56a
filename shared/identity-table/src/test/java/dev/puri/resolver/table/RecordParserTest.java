package dev.puri.resolver.table;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.projection.wait.EventOutcome;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.RecordReader;
import dev.puri.schemas.serde.RecordWriter;
import dev.puri.schemas.serde.WireFormat;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.avro.AvroRuntimeException;
import org.apache.kafka.common.errors.SerializationException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class RecordParserTest {
    private static final RecordWriter<IdentityRow> WRITER = RecordWriter.of(IdentityRow.class);
    private static final RecordReader<IdentityRow> READER = RecordReader.of(IdentityRow.class);
    private static final int ROUNDS = 20_000;
    private static final Position POSITION = new Position(Topics.eventsTopicOf("music"), 3, 1042);

    private final long seed = new Random().nextLong();
    private final Random random = new Random(seed);
    private final AnyRows rows = new AnyRows(random);
    private final Dictionaries dictionaries = new Dictionaries();
    private final RowCodec codec = new RowCodec(dictionaries);
    private final RecordParser parser = new RecordParser(dictionaries);
    private final RawRow raw = new RawRow(dictionaries, seed);
    private final byte[] buffer = new byte[RowCodec.MAX_BYTES];

    @Test
    void parsesAnyRowAsAvroDoes() {
        int parsed = 0;
        for (int i = 0; i < ROUNDS; i++) {
            Identity identity = rows.identity();
            Identity read = parse(identity.puri().toBytes(), value(identity.row()));

            boolean isLeftToAvro = identity.row().mergedInto() != null
                    || identity.puri().toString().contains("%");
            assertThat(read)
                    .as("seed %d", seed)
                    .isEqualTo(
                            isLeftToAvro
                                    ? null
                                    : new Identity(
                                            identity.puri(), EventOutcome.withPosition(POSITION, identity.row())));
            parsed += read == null ? 0 : 1;
        }
        assertThat(parsed).isGreaterThan(ROUNDS / 10);
    }

    @Test
    void parsedRowHasTheHashesOfTheDecodedRow() {
        RawRow decoded = new RawRow(dictionaries, seed);
        for (int i = 0; i < ROUNDS; i++) {
            Identity identity = rows.identity();
            decoded.set(identity.puri(), identity.row());
            byte[] token = token(identity.row().position());
            if (parser.parse(identity.puri().toBytes(), value(identity.row()), token, raw)) {
                assertThat(raw.puriHash).isEqualTo(decoded.puriHash);
                assertThat(raw.hasHandle).isEqualTo(decoded.hasHandle);
                assertThat(raw.hasHandle ? raw.handleHash : 0).isEqualTo(raw.hasHandle ? decoded.handleHash : 0);
            }
        }
    }

    @Test
    void doesNotParseRecordsThatAvroReadsOtherwise() {
        byte[] key = Puri.parse("soundcloud:tracks:1").toBytes();
        int refused = 0;
        for (int i = 0; i < ROUNDS; i++) {
            byte[] value = value(rows.identity().row());
            byte[] odd = random.nextBoolean() ? Arrays.copyOf(value, 6 + random.nextInt(value.length)) : value.clone();
            odd[random.nextInt(odd.length - 5) + 5] ^= (byte) (1 << random.nextInt(8));
            Identity parsed = parse(key, odd);
            refused += parsed == null ? 1 : 0;
            if (parsed != null) {
                Row byAvro = byAvro(odd);
                assertThat(byAvro).as("seed %d", seed).isNotNull();
                assertThat(parsed.row()).as("seed %d", seed).isEqualTo(EventOutcome.withPosition(POSITION, byAvro));
            }
        }
        assertThat(refused).isGreaterThan(1_000);
    }

    @Test
    void doesNotParseANumberWithSuperfluousBytes() {
        byte[] key = Puri.parse("soundcloud:tracks:1").toBytes();
        byte[] value = value(SomeRows.active("br-1", null));
        // After the header, the uuid and two words of one byte for the length each.
        int ownerOffset = WireFormat.HEADER_LENGTH + 16;
        int shardOffset = ownerOffset + 1 + value[ownerOffset] / 2;
        int handleBranchOffset = shardOffset + 1 + value[shardOffset] / 2;
        assertThat(value[handleBranchOffset]).isZero();
        byte[] longer = new byte[value.length + 6];
        System.arraycopy(value, 0, longer, 0, handleBranchOffset);
        // Zero as a number of seven bytes, where Avro accepts at most five.
        Arrays.fill(longer, handleBranchOffset, handleBranchOffset + 6, (byte) 0x80);
        System.arraycopy(value, handleBranchOffset, longer, handleBranchOffset + 6, value.length - handleBranchOffset);

        assertThat(byAvro(longer)).isNull();
        assertThat(parse(key, value)).isNotNull();
        assertThat(parse(key, longer)).isNull();
    }

    @Test
    void doesNotParseAKeyThatIsNotCanonical() {
        byte[] value = value(rows.identity().row());
        for (int i = 0; i < ROUNDS; i++) {
            byte[] key = rows.identity().puri().toBytes();
            key[random.nextInt(key.length)] = (byte) random.nextInt(256);
            Identity parsed = parse(key, value);
            if (parsed != null) {
                assertThat(parsed.puri().toBytes()).as("seed %d", seed).isEqualTo(key);
            }
        }
        assertThat(parse(new byte[0], value)).isNull();
        assertThat(parse("Soundcloud:tracks:1".getBytes(StandardCharsets.US_ASCII), value))
                .isNull();
    }

    @Test
    void parsesANameRegardlessOfThePreviousCollection() {
        byte[] value = value(SomeRows.active("br-1", null));
        for (String identifier : List.of(
                "1",
                "0",
                "01",
                "00",
                "999999999999999999",
                "1000000000000000000",
                "12a",
                "a1",
                "-1",
                "1%20",
                "1:2",
                "")) {
            byte[] key = ("soundcloud:tracks:" + identifier).getBytes(StandardCharsets.US_ASCII);
            parse(Puri.parse("other:things:7").toBytes(), value);
            Identity behindStranger = parse(key, value);
            parse(Puri.parse("soundcloud:tracks:7").toBytes(), value);
            assertThat(parse(key, value)).as(identifier).isEqualTo(behindStranger);
        }
    }

    @Test
    void parsedRowHasThePositionOfItsEvent() {
        byte[] key = Puri.parse("soundcloud:tracks:1").toBytes();
        for (int i = 0; i < ROUNDS; i++) {
            Row row = rows.identity().row();
            Position event = rows.identity().row().position();

            Identity read = parse(key, value(row), token(event));

            if (read != null) {
                assertThat(read.row()).as("seed %d", seed).isEqualTo(EventOutcome.withPosition(event, row));
            }
        }
    }

    @Test
    void doesNotParseATextThatIsNotAToken() {
        byte[] key = Puri.parse("soundcloud:tracks:1").toBytes();
        byte[] value = value(SomeRows.active("br-1", null));
        for (String text : List.of("", "-", "--", "7", "3-", "-7", "-3-7", "03-7", "3-07", "3-+7", "3-7-", "a-7")) {
            assertThat(parse(key, value, text.getBytes(StandardCharsets.US_ASCII)))
                    .as(text)
                    .isNull();
        }
        for (int i = 0; i < ROUNDS; i++) {
            byte[] token = token(rows.identity().row().position());
            token[random.nextInt(token.length)] = (byte) random.nextInt(128);
            Identity read = parse(key, value, token);
            if (read != null) {
                assertThat(token(read.row().position())).as("seed %d", seed).isEqualTo(token);
            }
        }
    }

    private @Nullable Identity parse(byte[] key, byte[] value) {
        return parse(key, value, token(POSITION));
    }

    private static byte[] token(Position position) {
        return position.toString().getBytes(StandardCharsets.UTF_8);
    }

    private @Nullable Identity parse(byte[] key, byte[] value, byte[] token) {
        return parser.parse(key, value, token, raw)
                ? codec.decode(Arrays.copyOf(buffer, codec.encode(raw, buffer, 0)))
                : null;
    }

    private static byte[] value(Row row) {
        return WRITER.encode(7, RowAvro.toAvro(row));
    }

    private static @Nullable Row byAvro(byte[] value) {
        try {
            return RowAvro.fromAvro(READER.decode(value, WRITER.schema()));
        } catch (SerializationException | AvroRuntimeException | IllegalArgumentException e) {
            return null;
        }
    }
}

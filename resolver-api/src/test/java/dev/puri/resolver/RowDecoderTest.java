package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.resolver.table.AnyRows;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.serde.RecordReader;
import dev.puri.schemas.serde.RecordWriter;
import java.util.Arrays;
import java.util.Random;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.kafka.common.errors.SerializationException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class RowDecoderTest {
    private static final RecordWriter<IdentityRow> WRITER = RecordWriter.of(IdentityRow.class);
    private static final RecordReader<IdentityRow> READER = RecordReader.of(IdentityRow.class);

    private final RowDecoder decoder = new RowDecoder();
    private final long seed = new Random().nextLong();
    private final Random random = new Random(seed);
    private final AnyRows rows = new AnyRows(random);

    @Test
    void anyRowIsReadByHandAsAvroReadsIt() {
        for (int i = 0; i < 20_000; i++) {
            byte[] value = value();

            assertThat(decoder.byHand(value)).as("seed %d", seed).isEqualTo(byAvro(value));
        }
    }

    @Test
    void whatAvroRefusesOrReadsOtherwiseIsNotReadByHand() {
        int refused = 0;
        for (int i = 0; i < 20_000; i++) {
            byte[] value = value();
            byte[] odd = random.nextBoolean() ? Arrays.copyOf(value, 6 + random.nextInt(value.length)) : value.clone();
            odd[random.nextInt(odd.length - 5) + 5] ^= (byte) (1 << random.nextInt(8));
            Row byHand = decoder.byHand(odd);
            refused += byHand == null ? 1 : 0;
            if (byHand != null) {
                assertThat(byHand).as("seed %d", seed).isEqualTo(byAvro(odd));
            }
        }
        assertThat(refused).isGreaterThan(1_000);
    }

    @Test
    void anotherSchemaIsLeftToAvro() {
        Schema other = new Schema.Parser()
                .parse(WRITER.schema()
                        .toString()
                        .replace("{\"name\":\"epoch\"", "{\"name\":\"more\",\"type\":\"int\"},{\"name\":\"epoch\""));
        byte[] value = value();

        assertThat(decoder.decode(value, WRITER.schema())).isEqualTo(byAvro(value));
        assertThat(other).isNotEqualTo(WRITER.schema());
        assertThatThrownBy(() -> decoder.decode(value, other))
                .isInstanceOfAny(
                        SerializationException.class, AvroRuntimeException.class, IllegalArgumentException.class);
    }

    private byte[] value() {
        return WRITER.encode(7, RowAvro.toAvro(rows.row(random.nextBoolean() ? null : rows.handle())));
    }

    private static @Nullable Row byAvro(byte[] value) {
        try {
            return RowAvro.fromAvro(READER.decode(value, WRITER.schema()));
        } catch (SerializationException | AvroRuntimeException | IllegalArgumentException e) {
            return null;
        }
    }
}

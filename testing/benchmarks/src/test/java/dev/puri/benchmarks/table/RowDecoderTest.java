package dev.puri.benchmarks.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.benchmarks.data.Population;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowEncoder;
import java.util.Arrays;
import org.apache.kafka.common.errors.SerializationException;
import org.junit.jupiter.api.Test;

class RowDecoderTest {
    private final RowDecoder decoder = new RowDecoder();

    @Test
    void rowsAreReadByHand() {
        for (long number = 0; number < 1000; number++) {
            Row row = Population.row(number * 50_003, number % 3);
            assertThat(decoder.decodeByHand(RowEncoder.encode(Population.SCHEMA_ID, row)))
                    .isEqualTo(row);
        }
    }

    @Test
    void aMergedRowWithoutAHandleIsReadToo() {
        Row row = Population.row(7, 0);
        Row merged = new Row(
                row.uuid(),
                row.owner(),
                row.shard(),
                null,
                Row.Status.MERGED,
                3,
                row.createdAt(),
                row.changedAt(),
                Puri.parse("soundcloud:tracks:8"),
                row.position());
        assertThat(decoder.decodeByHand(RowEncoder.encode(Population.SCHEMA_ID, merged)))
                .isEqualTo(merged);
    }

    @Test
    void truncatedValuesAreLeftToAvroWhichRefusesThem() {
        byte[] whole = RowEncoder.encode(Population.SCHEMA_ID, Population.row(7, 0));
        byte[] torn = Arrays.copyOf(whole, whole.length - 1);

        assertThat(decoder.decodeByHand(torn)).isNull();
        assertThatThrownBy(() -> decoder.decode(torn)).isInstanceOf(SerializationException.class);
    }
}

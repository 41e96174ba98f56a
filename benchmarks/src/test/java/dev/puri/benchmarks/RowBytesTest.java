package dev.puri.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.serde.RecordWriter;
import org.junit.jupiter.api.Test;

class RowBytesTest {
    private final RecordWriter<IdentityRow> avro = RecordWriter.of(IdentityRow.class);
    private final RowBytes bytes = new RowBytes();

    @Test
    void bytesAreThoseThatAvroWrites() {
        for (long number = 0; number < 1000; number++) {
            assertSame(Population.row(number * 50_003, number % 3));
        }
    }

    @Test
    void whatMayBeMissingIsWrittenAsAvroDoes() {
        Row row = Population.row(7, 0);
        assertSame(new Row(
                row.uuid(),
                row.owner(),
                row.shard(),
                null,
                Row.Status.MERGED,
                Long.MAX_VALUE,
                row.createdAt(),
                row.changedAt().minusSeconds(10_000_000_000L),
                Puri.parse("soundcloud:tracks:8"),
                row.position()));
    }

    private void assertSame(Row row) {
        assertThat(bytes.encode(Population.SCHEMA_ID, row))
                .isEqualTo(avro.encode(Population.SCHEMA_ID, RowAvro.toAvro(row)));
    }
}

package dev.puri.resolver.feed;

import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.serde.RecordReader;
import dev.puri.schemas.serde.RecordWriter;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;

/** Notes names and rows, from either form of a change. */
final class NotedChanges implements RowChanges {
    private static final RecordReader<IdentityRow> READER = RecordReader.of(IdentityRow.class);
    private static final Schema WRITTEN_WITH =
            RecordWriter.of(IdentityRow.class).schema();

    /** By line: the name, a space, and the row or {@code null}. */
    final List<String> changes = new CopyOnWriteArrayList<>();

    @Override
    public void changed(int partition, long offset, Puri puri, @Nullable Row row) {
        changes.add(puri + " " + row);
    }

    @Override
    public void changed(int partition, long offset, byte[] key, byte @Nullable [] value, byte @Nullable [] token) {
        Row row = value == null ? null : RowAvro.fromAvro(READER.decode(value, WRITTEN_WITH));
        changed(partition, offset, Puri.parse(new String(key, StandardCharsets.US_ASCII)), row);
    }

    @Override
    public void reached(int partition, long offset) {}

    @Override
    public void completeAt(Instant time) {}
}

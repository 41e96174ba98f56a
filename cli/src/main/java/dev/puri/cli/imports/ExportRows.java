package dev.puri.cli.imports;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.cli.recovery.ExportFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a file of {@code GET /v1/export}. Of two rows of one pURI, the one with the older state is superseded.
 */
final class ExportRows implements RowSource {
    /** The columns that an input has templates for; {@link ImportPlanner} reads the others itself. */
    static final Set<String> COLUMNS = Set.of("puri", "uuid", "owner", "shard", "handle");

    private final Set<Long> superseded;
    private final ExportFile file;
    private long rowNumber;

    ExportRows(Path file) throws IOException {
        this.superseded = SupersededRows.of(file);
        this.file = ExportFile.open(file);
    }

    @Override
    public Set<String> columns() {
        return COLUMNS;
    }

    @Override
    public @Nullable SourceRow next() throws IOException {
        JsonNode row = file.next();
        if (row == null) {
            return null;
        }
        rowNumber++;
        return superseded.contains(rowNumber) ? new SourceRow.Superseded() : NdjsonRows.values(row);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}

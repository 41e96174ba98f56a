package dev.puri.cli.imports;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.cli.recovery.ExportFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The rows of a file of {@code GET /v1/export}. */
final class ExportRows implements RowSource {
    /** The columns that an input has templates for; {@link ImportPlanner} reads the others itself. */
    static final Set<String> COLUMNS = Set.of("puri", "uuid", "owner", "shard", "handle");

    private final ExportFile file;

    ExportRows(Path file) throws IOException {
        this.file = ExportFile.open(file);
    }

    @Override
    public Set<String> columns() {
        return COLUMNS;
    }

    @Override
    public @Nullable Map<String, String> next() throws IOException {
        JsonNode row = file.next();
        return row == null ? null : NdjsonRows.values(row);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}

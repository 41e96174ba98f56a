package dev.puri.cli.imports;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads the file of planned rows, from any row on. */
final class PlannedRows implements AutoCloseable {
    private final InputStream file;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
    private long bytes;

    /**
     * @param skippedBytes number of bytes before the first row to read
     */
    PlannedRows(Path path, long skippedBytes) throws IOException {
        file = new BufferedInputStream(Files.newInputStream(path), 1 << 16);
        file.skipNBytes(skippedBytes);
        bytes = skippedBytes;
    }

    /** Returns the next rows; fewer than the maximum only at the end of the file. */
    List<ImportRow> next(int maxRows) throws IOException {
        List<ImportRow> rows = new ArrayList<>(maxRows);
        while (rows.size() < maxRows) {
            line.reset();
            int b;
            for (b = file.read(); b >= 0 && b != '\n'; b = file.read()) {
                line.write(b);
            }
            if (b < 0) {
                return rows;
            }
            bytes += line.size() + 1;
            rows.add(ImportFolder.JSON.readValue(line.toByteArray(), ImportRow.class));
        }
        return rows;
    }

    /** Returns the number of bytes of the file before the next row. */
    long bytes() {
        return bytes;
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}

package dev.puri.cli.imports;

import com.fasterxml.jackson.core.JsonParser;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Reads the file of planned rows, from any row on. */
final class PlannedRows implements AutoCloseable {
    private final InputStream file;
    private final byte[] buffer = new byte[1 << 16];
    private int from;
    private int to;
    private long endBytes;

    /**
     * Some lines of the file.
     *
     * @param json the lines
     * @param rowCount number of rows
     * @param endBytes number of bytes of the file before the next row
     */
    record Lines(byte[] json, int rowCount, long endBytes) {
        /**
         * Returns the rows.
         *
         * @throws ImportException if a line is not a row
         */
        List<ImportRow> rows() {
            List<ImportRow> rows = new ArrayList<>(rowCount);
            try (JsonParser parser = ImportFolder.JSON.createParser(json)) {
                while (parser.nextToken() != null) {
                    rows.add(ImportRow.read(parser));
                }
            } catch (IOException e) {
                throw new ImportException(
                        "a line of the file of planned rows is damaged; plan again: " + e.getMessage(), e);
            }
            return rows;
        }
    }

    /**
     * @param skippedBytes number of bytes before the first row to read
     */
    PlannedRows(Path path, long skippedBytes) throws IOException {
        file = Files.newInputStream(path);
        file.skipNBytes(skippedBytes);
        endBytes = skippedBytes;
    }

    /** Returns the next lines; fewer than the maximum only at the end of the file. */
    Lines next(int maxRows) throws IOException {
        ByteArrayOutputStream lines = new ByteArrayOutputStream(buffer.length);
        int rowCount = 0;
        int completeBytes = 0;
        while (rowCount < maxRows) {
            if (from == to) {
                from = 0;
                to = Math.max(0, file.read(buffer));
                if (to == 0) {
                    break;
                }
            }
            int end = from;
            while (end < to && rowCount < maxRows) {
                if (buffer[end++] == '\n') {
                    rowCount++;
                    completeBytes = lines.size() + end - from;
                }
            }
            lines.write(buffer, from, end - from);
            from = end;
        }
        endBytes += completeBytes;
        // Without a line that is not complete.
        return new Lines(Arrays.copyOf(lines.toByteArray(), completeBytes), rowCount, endBytes);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}

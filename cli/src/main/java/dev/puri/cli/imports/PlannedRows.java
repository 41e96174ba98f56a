package dev.puri.cli.imports;

import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads the file of planned rows, from any row on. */
final class PlannedRows implements AutoCloseable {
    private static final int MIN_BUFFER_BYTES = 1 << 20;

    /** Small enough for the processor's cache: the stream copies what it reads. */
    private static final int READ_BYTES = 1 << 16;

    private final InputStream file;

    // Lines that were returned refer to the buffer, so it is replaced and never overwritten.
    private byte[] buffer = new byte[0];
    private int from;
    private int to;
    private long endBytes;

    /**
     * Some lines of the file.
     *
     * @param buffer contains the lines
     * @param rowCount number of rows
     * @param endBytes number of bytes of the file before the next row
     */
    record Lines(byte[] buffer, int offset, int length, int rowCount, long endBytes) {
        /**
         * Returns the rows.
         *
         * @throws ImportException if a line is not a row
         */
        List<ImportRow> rows() {
            List<ImportRow> rows = new ArrayList<>(rowCount);
            try (JsonParser parser = ImportFolder.JSON.createParser(buffer, offset, length)) {
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
        if (Files.size(path) < skippedBytes) {
            throw new ImportException(path + " is shorter than when its rows were loaded; plan again");
        }
        file = Files.newInputStream(path);
        file.skipNBytes(skippedBytes);
        endBytes = skippedBytes;
    }

    /** Returns the next lines; fewer than the maximum only at the end of the file. */
    Lines next(int maxRows) throws IOException {
        int rowCount = 0;
        int length = 0;
        for (int scanned = 0; rowCount < maxRows; scanned++) {
            if (from + scanned == to && !readMore()) {
                break;
            }
            if (buffer[from + scanned] == '\n') {
                rowCount++;
                length = scanned + 1;
            }
        }
        endBytes += length;
        Lines lines = new Lines(buffer, from, length, rowCount, endBytes);
        from += length;
        return lines;
    }

    /** Reads more of the file to the end of the buffer; returns false at the end of the file. */
    private boolean readMore() throws IOException {
        if (to == buffer.length) {
            byte[] next = new byte[Math.max(MIN_BUFFER_BYTES, 2 * (to - from))];
            System.arraycopy(buffer, from, next, 0, to - from);
            buffer = next;
            to -= from;
            from = 0;
        }
        int length = file.read(buffer, to, Math.min(READ_BYTES, buffer.length - to));
        to += Math.max(0, length);
        return length > 0;
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}

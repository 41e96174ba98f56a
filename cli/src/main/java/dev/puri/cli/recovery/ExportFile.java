package dev.puri.cli.recovery;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.cli.io.ByteLines;
import dev.puri.cli.io.Digests;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * Reads a file of {@code GET /v1/export}, lines of JSON. An incomplete or changed file is refused before its first row
 * is returned, because rows that a restore leaves out are names that others may claim.
 */
public final class ExportFile implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path path;
    private final ByteLines lines;
    private final long rows;
    private long returnedRows;

    private ExportFile(Path path, ByteLines lines, long rows) {
        this.path = path;
        this.lines = lines;
        this.rows = rows;
    }

    /**
     * Opens a file.
     *
     * @throws IOException if the file cannot be read, is no export, or is incomplete or changed
     */
    public static ExportFile open(Path path) throws IOException {
        long rows = check(path);
        ByteLines lines = new ByteLines(Files.newInputStream(path));
        lines.next();
        return new ExportFile(path, lines, rows);
    }

    /** Returns the number of rows. */
    public long rows() {
        return rows;
    }

    /** Returns the next row, with the members that {@code docs/export.md} lists; null after the last one. */
    public @Nullable JsonNode next() throws IOException {
        if (returnedRows == rows) {
            return null;
        }
        byte[] line = lines.next();
        if (line == null) {
            throw new IOException(path + " became shorter while it was read");
        }
        returnedRows++;
        return parse(path, returnedRows + 1, line);
    }

    /** Checks the first and the last line, and returns the number of rows. */
    private static long check(Path path) throws IOException {
        MessageDigest digest = Digests.sha256();
        long lineCount = 0;
        byte[] last = {};
        try (ByteLines lines = new ByteLines(Files.newInputStream(path))) {
            for (byte[] line = lines.next(); line != null; line = lines.next()) {
                if (lineCount == 1 && !parse(path, 1, last).has("changesFrom")) {
                    throw new IOException(path + " is no export: its first line has no changesFrom");
                }
                if (lineCount > 0) {
                    digest.update(last);
                }
                last = line;
                lineCount++;
            }
        }
        JsonNode end = lineCount < 2 ? null : parseOrNull(last);
        if (end == null || !end.has("rows") || !end.has("sha256")) {
            throw new IOException(path + " is incomplete: its last line has no number of rows; request another export");
        }
        long rows = lineCount - 2;
        String actual = HexFormat.of().formatHex(digest.digest());
        if (end.path("rows").asLong() != rows || !end.path("sha256").asText().equals(actual)) {
            throw new IOException(path + " was changed: it has " + rows + " rows with SHA-256 " + actual
                    + ", and its last line says " + end);
        }
        return rows;
    }

    private static JsonNode parse(Path path, long lineNumber, byte[] line) throws IOException {
        JsonNode node = parseOrNull(line);
        if (node == null || !node.isObject()) {
            throw new IOException(path + ": line " + lineNumber + " is not a JSON object");
        }
        return node;
    }

    private static @Nullable JsonNode parseOrNull(byte[] line) throws IOException {
        try {
            return JSON.readTree(line);
        } catch (JsonProcessingException e) {
            return null;
        }
    }

    @Override
    public void close() throws IOException {
        lines.close();
    }
}

package dev.puri.cli.io;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads lines of UTF-8 text in bounded memory. The rest of a line that exceeds the bound is skipped, and the line is
 * reported as too long. Lines end with LF or CR LF; the last line may have no terminator.
 */
public final class LineReader implements AutoCloseable {
    private static final int BUFFER_BYTES = 64 * 1024;
    private static final int INITIAL_LINE_BYTES = 1024;

    private final InputStream input;
    private final int maxLineBytes;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int position;
    private int limit;
    private byte[] line = new byte[INITIAL_LINE_BYTES];
    private long lineNumber;

    /** A line: its text, or the reason why it is unreadable. */
    public sealed interface Line {
        /** Returns the number of the line, counted from 1. */
        long number();
    }

    /** A line of text, without its line end. */
    public record Text(long number, String text) implements Line {}

    /** A line that is too long or is not UTF-8. */
    public record Unreadable(long number, String reason) implements Line {}

    /**
     * @param input closed by {@link #close}
     * @param maxLineBytes the maximum length of a line in bytes, without its line feed
     */
    public LineReader(InputStream input, int maxLineBytes) {
        this.input = input;
        this.maxLineBytes = maxLineBytes;
    }

    /** Returns the next line, or null at the end of the input. */
    public @Nullable Line next() throws IOException {
        int length = 0;
        boolean hasBytes = false;
        while (true) {
            if (position == limit && !fillBuffer()) {
                return hasBytes ? toLine(length) : null;
            }
            hasBytes = true;
            int end = position;
            while (end < limit && buffer[end] != '\n') {
                end++;
            }
            length = append(length, end - position);
            boolean isTerminated = end < limit;
            position = isTerminated ? end + 1 : end;
            if (isTerminated) {
                return toLine(length);
            }
        }
    }

    private boolean fillBuffer() throws IOException {
        position = 0;
        limit = Math.max(0, input.read(buffer));
        return limit > 0;
    }

    /**
     * Appends bytes of the buffer to the line, and returns the new length of the line. The length may exceed the
     * maximum by one byte, so that {@link #toLine} detects a line that is too long.
     */
    private int append(int length, int byteCount) {
        int appended = Math.min(byteCount, maxLineBytes + 1 - length);
        if (length + appended > line.length) {
            line = Arrays.copyOf(line, Math.min(maxLineBytes + 1, Math.max(length + appended, line.length * 2)));
        }
        System.arraycopy(buffer, position, line, length, appended);
        return length + appended;
    }

    private Line toLine(int length) {
        lineNumber++;
        if (length > maxLineBytes) {
            return new Unreadable(lineNumber, "longer than " + maxLineBytes + " bytes");
        }
        int end = length > 0 && line[length - 1] == '\r' ? length - 1 : length;
        int start = lineNumber == 1 && startsWithByteOrderMark(end) ? 3 : 0;
        try {
            return new Text(
                    lineNumber,
                    StandardCharsets.UTF_8
                            .newDecoder()
                            .decode(ByteBuffer.wrap(line, start, end - start))
                            .toString());
        } catch (CharacterCodingException e) {
            return new Unreadable(lineNumber, "not UTF-8 text");
        }
    }

    @Override
    public void close() throws IOException {
        input.close();
    }

    private boolean startsWithByteOrderMark(int length) {
        return length >= 3 && line[0] == (byte) 0xEF && line[1] == (byte) 0xBB && line[2] == (byte) 0xBF;
    }
}

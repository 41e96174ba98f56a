package dev.puri.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads lines of UTF-8 text in bounded memory: the rest of a line over the bound is skipped, and the line is reported
 * as too long. Lines end with LF or CR LF; the last line may have no end.
 */
final class LineReader {
    private static final int BUFFER_BYTES = 64 * 1024;
    private static final int FIRST_LINE_BYTES = 1024;

    private final InputStream input;
    private final int maxBytes;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int position;
    private int limit;
    private byte[] line = new byte[FIRST_LINE_BYTES];
    private long number;

    /** A line: its text, or why it is unreadable. */
    sealed interface Line {
        /** Counted from 1. */
        long number();
    }

    record Text(long number, String text) implements Line {}

    record Unreadable(long number, String why) implements Line {}

    /**
     * @param maxBytes the longest valid line, without its end
     */
    LineReader(InputStream input, int maxBytes) {
        this.input = input;
        this.maxBytes = maxBytes;
    }

    /** Returns the next line, or null at the end. */
    @Nullable
    Line next() throws IOException {
        int length = 0;
        boolean any = false;
        while (true) {
            if (position == limit && !fill()) {
                return any ? finish(length) : null;
            }
            any = true;
            int end = position;
            while (end < limit && buffer[end] != '\n') {
                end++;
            }
            length = append(length, end - position);
            boolean ended = end < limit;
            position = ended ? end + 1 : end;
            if (ended) {
                return finish(length);
            }
        }
    }

    private boolean fill() throws IOException {
        position = 0;
        limit = Math.max(0, input.read(buffer));
        return limit > 0;
    }

    /** Appends bytes to the line, up to one more than allowed, so that finish() detects a line that is too long. */
    private int append(int length, int more) {
        int appended = Math.min(more, maxBytes + 1 - length);
        if (length + appended > line.length) {
            line = Arrays.copyOf(line, Math.min(maxBytes + 1, Math.max(length + appended, line.length * 2)));
        }
        System.arraycopy(buffer, position, line, length, appended);
        return length + appended;
    }

    private Line finish(int length) {
        number++;
        if (length > maxBytes) {
            return new Unreadable(number, "longer than " + maxBytes + " bytes");
        }
        int end = length > 0 && line[length - 1] == '\r' ? length - 1 : length;
        int start = number == 1 && startsWithByteOrderMark(end) ? 3 : 0;
        try {
            return new Text(
                    number,
                    StandardCharsets.UTF_8
                            .newDecoder()
                            .decode(ByteBuffer.wrap(line, start, end - start))
                            .toString());
        } catch (CharacterCodingException e) {
            return new Unreadable(number, "not UTF-8 text");
        }
    }

    private boolean startsWithByteOrderMark(int length) {
        return length >= 3 && line[0] == (byte) 0xEF && line[1] == (byte) 0xBB && line[2] == (byte) 0xBF;
    }
}

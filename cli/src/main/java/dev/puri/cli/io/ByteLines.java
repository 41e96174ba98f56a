package dev.puri.cli.io;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/** Reads lines as bytes, each with its line feed. Bytes after the last line feed are no line: the text was cut off. */
public final class ByteLines implements AutoCloseable {
    private static final int BUFFER_BYTES = 1 << 16;

    private final InputStream input;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream(512);

    /**
     * @param input closed by {@link #close}
     */
    public ByteLines(InputStream input) {
        this.input = new BufferedInputStream(input, BUFFER_BYTES);
    }

    /** Returns the next line; null after the last one. */
    public byte @Nullable [] next() throws IOException {
        line.reset();
        for (int b = input.read(); b >= 0; b = input.read()) {
            line.write(b);
            if (b == '\n') {
                return line.toByteArray();
            }
        }
        return null;
    }

    @Override
    public void close() throws IOException {
        input.close();
    }
}

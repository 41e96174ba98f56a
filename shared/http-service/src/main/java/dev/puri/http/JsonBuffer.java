package dev.puri.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;

/** Encodes the JSON of a response directly into the buffer that is sent. */
final class JsonBuffer extends OutputStream {
    private static final JsonFactory JSON = JsonFactory.builder().build();

    private final Buffer buffer;

    private JsonBuffer(Buffer buffer) {
        this.buffer = buffer;
    }

    /** Encodes a body as UTF-8, with a line break at the end. */
    static Buffer of(JsonBody body) {
        Buffer buffer = Buffer.buffer(256);
        try (JsonGenerator json = JSON.createGenerator(new JsonBuffer(buffer))) {
            body.writeTo(json);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return buffer.appendByte((byte) '\n');
    }

    @Override
    public void write(int b) {
        buffer.appendByte((byte) b);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
        buffer.appendBytes(bytes, offset, length);
    }
}

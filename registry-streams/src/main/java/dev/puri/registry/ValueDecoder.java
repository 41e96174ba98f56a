package dev.puri.registry;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Decodes values of topics and stores that only the topology writes. */
final class ValueDecoder {
    private ValueDecoder() {}

    /**
     * Decodes a value and checks that no bytes remain.
     *
     * @param description name of the kind of value in messages, with an article: "a claim"
     * @throws IllegalArgumentException if there is no value, or it has too few or too many bytes
     */
    static <T> T decode(String description, byte @Nullable [] value, Function<ByteBuffer, T> decoder) {
        if (value == null) {
            throw new IllegalArgumentException(description + " must have a value");
        }
        ByteBuffer bytes = ByteBuffer.wrap(value);
        T decoded;
        try {
            decoded = decoder.apply(bytes);
        } catch (BufferUnderflowException e) {
            throw new IllegalArgumentException(value.length + " bytes are too few for " + description, e);
        }
        if (bytes.hasRemaining()) {
            throw new IllegalArgumentException(
                    description + " of " + value.length + " bytes has " + bytes.remaining() + " bytes too many");
        }
        return decoded;
    }
}

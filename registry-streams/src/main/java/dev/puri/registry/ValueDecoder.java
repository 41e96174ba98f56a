package dev.puri.registry;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Decodes the values of the topology's own topics. */
final class ValueDecoder {
    private ValueDecoder() {}

    /**
     * Decodes a value and checks that it has no further bytes.
     *
     * @param what the value's name in messages, with its article
     * @throws IllegalArgumentException if there is no value, or it has too few, too many or invalid bytes
     */
    static <T> T decode(String what, byte @Nullable [] value, Function<ByteBuffer, T> decoder) {
        if (value == null) {
            throw new IllegalArgumentException("a record without a value is not " + what);
        }
        ByteBuffer bytes = ByteBuffer.wrap(value);
        T decoded;
        try {
            decoded = decoder.apply(bytes);
        } catch (BufferUnderflowException e) {
            throw new IllegalArgumentException(value.length + " bytes are too few for " + what, e);
        }
        if (bytes.hasRemaining()) {
            throw new IllegalArgumentException(
                    what + " of " + value.length + " bytes has " + bytes.remaining() + " bytes too many");
        }
        return decoded;
    }
}

package dev.puri.registry;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Decodes the values of the topology's own topics. */
final class WholeValue {
    private WholeValue() {}

    /**
     * @param what the value's name in messages, with its article
     * @param decoder reads the whole buffer
     * @throws IllegalArgumentException when there is no value, or the decoder finds too few bytes, too many or wrong ones
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

package dev.puri.client.storage;

import java.util.function.Function;

/**
 * Converts a pURI or handle to the value of a column and back. Both methods throw an IllegalArgumentException that
 * states the violated rule. For every value that {@link #write} returns, {@link #read} returns the original name. For
 * every other value {@link #read} throws.
 */
record Codec<N, C>(Function<N, C> writer, Function<C, N> reader) {
    C write(N name) {
        return writer.apply(name);
    }

    N read(C value) {
        return reader.apply(value);
    }
}

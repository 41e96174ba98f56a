package dev.puri.client.storage;

import java.util.function.Function;

/**
 * Writes a name as a column's value and reads it back. Both throw IllegalArgumentException with the broken rule. {@link #read} returns
 * the name for every value that {@link #write} returns, and throws for all others.
 */
record Codec<N, C>(Function<N, C> writer, Function<C, N> reader) {
    static <N, C> Codec<N, C> of(Function<N, C> writer, Function<C, N> reader) {
        return new Codec<>(writer, reader);
    }

    C write(N name) {
        return writer.apply(name);
    }

    N read(C value) {
        return reader.apply(value);
    }
}

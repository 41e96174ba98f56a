package dev.puri.registry;

import org.jspecify.annotations.Nullable;

/** What Kafka Streams hands a processor in {@code init}, and must have handed it before a record comes. */
final class Started {
    private Started() {}

    static <T> T with(@Nullable T handed) {
        if (handed == null) {
            throw new IllegalStateException("a record came before init");
        }
        return handed;
    }
}

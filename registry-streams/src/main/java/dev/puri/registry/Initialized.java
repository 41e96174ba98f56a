package dev.puri.registry;

import org.jspecify.annotations.Nullable;

/** Checks that Kafka Streams called a processor's {@code init} before its {@code process}. */
final class Initialized {
    private Initialized() {}

    /** Returns a field that {@code init} has set. */
    static <T> T require(@Nullable T value) {
        if (value == null) {
            throw new IllegalStateException("process() was called before init()");
        }
        return value;
    }
}

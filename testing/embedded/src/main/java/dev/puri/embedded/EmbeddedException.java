package dev.puri.embedded;

import org.jspecify.annotations.Nullable;

/** Thrown if a broker or schema registry cannot start. The message states the reason and, if there is one, a remedy. */
public final class EmbeddedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    EmbeddedException(String message) {
        super(message);
    }

    EmbeddedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}

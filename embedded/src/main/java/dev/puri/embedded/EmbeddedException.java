package dev.puri.embedded;

import org.jspecify.annotations.Nullable;

/** A part of the embedded stack could not start; the message says which, why, and what may help. */
public final class EmbeddedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    EmbeddedException(String message) {
        super(message);
    }

    EmbeddedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}

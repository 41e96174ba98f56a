package dev.puri.client.testing;

import org.jspecify.annotations.Nullable;

/** The registry for tests could not be started. The message says why, and what to change. */
public final class RegistryStartException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    RegistryStartException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}

package dev.puri.client;

import org.jspecify.annotations.Nullable;

/** The declarations of collections could not be read or written. The message states the cause. */
public final class CollectionRegistryException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    CollectionRegistryException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}

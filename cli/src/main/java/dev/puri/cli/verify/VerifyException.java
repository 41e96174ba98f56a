package dev.puri.cli.verify;

import org.jspecify.annotations.Nullable;

/** A comparison cannot be completed. The message is for the user. */
public final class VerifyException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public VerifyException(String message) {
        this(message, null);
    }

    public VerifyException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}

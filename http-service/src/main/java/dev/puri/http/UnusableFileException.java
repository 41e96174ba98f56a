package dev.puri.http;

import org.jspecify.annotations.Nullable;

/** A file that was named in the settings cannot be used. The message names both, and nothing secret of it. */
final class UnusableFileException extends Exception {
    private static final long serialVersionUID = 1L;

    UnusableFileException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}

package dev.puri.http;

import org.jspecify.annotations.Nullable;

/** Thrown if a file named in the settings is unusable. The message names file and setting, but nothing secret. */
final class UnusableFileException extends Exception {
    private static final long serialVersionUID = 1L;

    UnusableFileException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}

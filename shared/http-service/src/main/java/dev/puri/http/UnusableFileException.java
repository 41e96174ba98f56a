package dev.puri.http;

import org.jspecify.annotations.Nullable;

/** Thrown if the file in a setting cannot be used. The message names the file and the setting, without secrets. */
final class UnusableFileException extends Exception {
    private static final long serialVersionUID = 1L;

    UnusableFileException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}

package dev.puri.http;

import org.jspecify.annotations.Nullable;

/** Thrown if a file that a setting names is unusable. The message names the file and the setting, without secrets. */
final class UnusableFileException extends Exception {
    private static final long serialVersionUID = 1L;

    UnusableFileException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}

package dev.puri.cli.imports;

import org.jspecify.annotations.Nullable;

/** An import cannot continue. The message says what is wrong, where, and what to do. */
public final class ImportException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ImportException(String message) {
        super(message);
    }

    ImportException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}

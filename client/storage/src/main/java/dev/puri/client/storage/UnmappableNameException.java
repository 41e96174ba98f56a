package dev.puri.client.storage;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if a {@link ColumnMapping} cannot convert: a name does not fit the column, or the column has a value that the
 * mapping never stores. The message quotes the name or the value, the mapping and the violated rule.
 */
public final class UnmappableNameException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    UnmappableNameException(String message, @Nullable IllegalArgumentException cause) {
        super(message, cause);
    }
}

package dev.puri.client.storage;

import org.jspecify.annotations.Nullable;

/**
 * A mapping cannot store a name, or a value of a column is not valid for its mapping. The message quotes the name or
 * the value, the mapping and the violated rule.
 */
public final class UnmappableNameException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    UnmappableNameException(String message, @Nullable IllegalArgumentException cause) {
        super(message, cause);
    }
}

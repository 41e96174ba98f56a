package dev.puri.client.storage;

import org.jspecify.annotations.Nullable;

/**
 * A mapping cannot store a name, or a column's value is no name of its mapping. The message quotes the name or value, the mapping and
 * the rule.
 */
public final class UnmappableNameException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    UnmappableNameException(String message, @Nullable IllegalArgumentException cause) {
        super(message, cause);
    }
}

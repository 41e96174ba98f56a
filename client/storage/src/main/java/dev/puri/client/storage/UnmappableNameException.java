package dev.puri.client.storage;

import org.jspecify.annotations.Nullable;

/**
 * A name that a mapping cannot store, or a column's value that is no name of its mapping. The message quotes it and
 * names the mapping and the rule.
 */
public final class UnmappableNameException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    UnmappableNameException(String message, @Nullable IllegalArgumentException cause) {
        super(message, cause);
    }
}

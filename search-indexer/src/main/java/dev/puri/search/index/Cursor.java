package dev.puri.search.index;

import java.util.regex.Pattern;

/**
 * Where a page ended, so that the next begins after it, at any depth and at the same cost. Opaque but to
 * the engine that made it: nobody reads a uuid or pURI from it, see {@link CursorSeal}.
 *
 * @param token of {@code A-Za-z0-9_-}, 1 to 2048 characters
 */
public record Cursor(String token) {
    private static final Pattern FORM = Pattern.compile("[A-Za-z0-9_-]{1,2048}");

    /**
     * @throws IllegalArgumentException when it has another character, or no or too many
     */
    public Cursor {
        if (!FORM.matcher(token).matches()) {
            throw new IllegalArgumentException("a cursor has 1 to 2048 characters of A-Z a-z 0-9 _ -");
        }
    }

    /** The engine did not make this cursor, or not for this query. */
    public static final class InvalidException extends Exception {
        private static final long serialVersionUID = 1L;

        /** Says what is wrong with it. */
        public InvalidException(String message) {
            super(message);
        }
    }
}

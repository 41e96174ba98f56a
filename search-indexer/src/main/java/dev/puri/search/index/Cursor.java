package dev.puri.search.index;

/**
 * Where a page ended, so that the next begins after it, at any depth and at the same cost. Opaque but to
 * the engine that made it.
 *
 * @param token printable ASCII without spaces
 */
public record Cursor(String token) {
    /**
     * @throws IllegalArgumentException when it is empty or longer than any engine makes one
     */
    public Cursor {
        if (token.isEmpty() || token.length() > 2048) {
            throw new IllegalArgumentException("no cursor has " + token.length() + " characters");
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

package dev.puri.search.index;

import java.util.regex.Pattern;

/**
 * The position after the last hit of a page. The next page costs the same at any depth. The token is encrypted, so only
 * the engine that made it can read a uuid or a pURI from it; see {@link CursorSeal}.
 *
 * @param token 1 to 2048 characters of {@code A-Za-z0-9_-}
 */
public record Cursor(String token) {
    private static final Pattern FORM = Pattern.compile("[A-Za-z0-9_-]{1,2048}");

    /**
     * @throws IllegalArgumentException if the token has another character or another length
     */
    public Cursor {
        if (!FORM.matcher(token).matches()) {
            throw new IllegalArgumentException("a cursor has 1 to 2048 characters of A-Z a-z 0-9 _ -");
        }
    }

    /** Another engine, or nobody, made this cursor, or it belongs to another query. */
    public static final class InvalidException extends Exception {
        private static final long serialVersionUID = 1L;

        /** Creates an exception with a reason. */
        public InvalidException(String message) {
            super(message);
        }
    }
}

package dev.puri.search.index;

import java.util.regex.Pattern;

/**
 * The position after the last hit of a page; the next page starts there. A page costs the same at any depth. The token
 * is encrypted, because it may contain uuids and pURIs that the client must not see; see {@link CursorSeal}.
 *
 * @param token 1 to 2048 characters of {@code A-Za-z0-9_-}
 */
public record Cursor(String token) {
    private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9_-]{1,2048}");

    /**
     * @throws IllegalArgumentException if the token is empty, too long, or has a character that is not allowed
     */
    public Cursor {
        if (!TOKEN.matcher(token).matches()) {
            throw new IllegalArgumentException("a cursor must have 1 to 2048 characters of A-Z a-z 0-9 _ -");
        }
    }

    /** Reports a cursor that this engine did not create, or that belongs to another query. */
    public static final class InvalidException extends Exception {
        private static final long serialVersionUID = 1L;

        /** Creates an exception. */
        public InvalidException(String message) {
            super(message);
        }
    }
}

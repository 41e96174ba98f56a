package dev.puri.client;

import dev.puri.schemas.identity.Puri;

/** Checks alphabets of identifiers. */
final class Alphabets {
    /** Maximum number of characters of an identifier without escapes. */
    static final int MAX_LENGTH = Puri.MAX_IDENTIFIER_BYTES;

    /** Characters, other than letters and digits, that need no escape in a segment of a pURI. */
    private static final String PUNCTUATION = "-._~!$&'()*+,;=@";

    private Alphabets() {}

    /**
     * Refuses alphabets with characters that a pURI converts to lower case or escapes: two characters must not become
     * the same, and no character must become an escape of three characters.
     *
     * @throws IllegalArgumentException if the alphabet has such a character or a duplicate; the message names the
     *     character and its position
     */
    static void require(String alphabet) {
        if (alphabet.length() < 2) {
            throw new IllegalArgumentException("an alphabet must have at least 2 characters, not " + alphabet.length());
        }
        for (int i = 0; i < alphabet.length(); i++) {
            char c = alphabet.charAt(i);
            boolean isPlain = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || PUNCTUATION.indexOf(c) >= 0;
            if (!isPlain) {
                throw new IllegalArgumentException("the alphabet's character " + i + " is '" + c
                        + "'; allowed are a-z 0-9 " + PUNCTUATION
                        + "; capital letters are not allowed, because pURIs ignore the case of letters");
            }
            if (alphabet.indexOf(c) != i) {
                throw new IllegalArgumentException(
                        "the alphabet has '" + c + "' twice, at positions " + alphabet.indexOf(c) + " and " + i);
            }
        }
    }

    /**
     * Does the checks of {@link #require}, and also refuses an alphabet whose characters are not in ascending order of
     * their codes: the texts would sort differently from the numbers that they represent.
     */
    static void requireSorted(String alphabet) {
        require(alphabet);
        for (int i = 1; i < alphabet.length(); i++) {
            if (alphabet.charAt(i) < alphabet.charAt(i - 1)) {
                throw new IllegalArgumentException("the alphabet has '" + alphabet.charAt(i) + "' after '"
                        + alphabet.charAt(i - 1) + "'; a sortable identifier needs characters in ascending order of"
                        + " their codes, as in " + Identifiers.BASE_36);
            }
        }
    }
}

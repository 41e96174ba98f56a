package dev.puri.client;

import dev.puri.schemas.identity.Puri;

/** Checks the alphabets of identifiers. */
final class Alphabets {
    /** Characters of an identifier that needs no escapes. */
    static final int MAX_LENGTH = Puri.MAX_IDENTIFIER_BYTES;

    /** Characters beside letters and digits that a segment holds without an escape. */
    private static final String PUNCTUATION = "-._~!$&'()*+,;=@";

    private Alphabets() {}

    /**
     * Refuses characters that pURIs fold or escape: two characters of the alphabet must not become one, and none must become
     * three.
     *
     * @throws IllegalArgumentException if there is such a character; the message names it and its position
     */
    static void require(String alphabet) {
        if (alphabet.length() < 2) {
            throw new IllegalArgumentException("an alphabet has at least 2 characters, not " + alphabet.length());
        }
        for (int i = 0; i < alphabet.length(); i++) {
            char c = alphabet.charAt(i);
            boolean isPlain = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || PUNCTUATION.indexOf(c) >= 0;
            if (!isPlain) {
                throw new IllegalArgumentException("the alphabet's character " + i + " is '" + c
                        + "'; identifiers are made of a-z 0-9 " + PUNCTUATION
                        + ", and pURIs do not tell capital letters from small ones");
            }
            if (alphabet.indexOf(c) != i) {
                throw new IllegalArgumentException(
                        "the alphabet has '" + c + "' twice, at " + alphabet.indexOf(c) + " and " + i);
            }
        }
    }

    /**
     * Like {@link #require}, and refuses an alphabet whose characters are not in the order of their codes: texts would not sort as
     * the numbers that they represent.
     */
    static void requireSorted(String alphabet) {
        require(alphabet);
        for (int i = 1; i < alphabet.length(); i++) {
            if (alphabet.charAt(i) < alphabet.charAt(i - 1)) {
                throw new IllegalArgumentException("the alphabet has '" + alphabet.charAt(i) + "' after '"
                        + alphabet.charAt(i - 1) + "'; in a sortable identifier characters are in the order of their"
                        + " codes, as in " + Identifiers.BASE_36);
            }
        }
    }
}

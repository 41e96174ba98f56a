package dev.puri.schemas.identity;

/**
 * The public name of an identity, e.g. {@code trk_4k7vx9tz2nqr8w3}: a prefix that tells the
 * collection, an underscore, and 15 characters that tell nothing. Immutable and never re-issued.
 *
 * @param text the canonical text, 19 ASCII characters
 */
public record Handle(String text) implements Comparable<Handle> {
    /** Characters of a whole handle. */
    public static final int LENGTH = 19;

    /** Characters after the underscore. */
    public static final int RANDOM_LENGTH = 15;

    /** What may stand after the underscore: digits and lower-case letters without 0, i, l and o. */
    public static final String ALPHABET = "123456789abcdefghjkmnpqrstuvwxyz";

    /**
     * @throws InvalidNameException when the text is not a handle in lower case
     */
    public Handle {
        if (text.length() != LENGTH) {
            throw invalid(text, -1);
        }
        for (int i = 0; i < LENGTH; i++) {
            if (!fits(text.charAt(i), i)) {
                throw invalid(text, i);
            }
        }
    }

    /**
     * Reads a handle; capital letters are lowered and nothing else is normalised.
     *
     * @throws InvalidNameException when the text is no handle
     */
    public static Handle parse(String text) {
        return new Handle(Ascii.lower(text));
    }

    /**
     * @param random 15 characters of {@link #ALPHABET}
     * @throws InvalidNameException when they are not
     */
    public static Handle of(Prefix prefix, String random) {
        return new Handle(prefix.text() + '_' + random);
    }

    /**
     * Whether a text can only have been meant as a handle: it has no colon, which every pURI has.
     */
    public static boolean looksLike(String text) {
        return text.indexOf(':') < 0;
    }

    /** The prefix, which tells the collection. */
    public Prefix prefix() {
        return new Prefix(text.substring(0, Prefix.LENGTH));
    }

    private static boolean fits(char c, int i) {
        if (i < Prefix.LENGTH) {
            return c >= 'a' && c <= 'z';
        }
        if (i == Prefix.LENGTH) {
            return c == '_';
        }
        return c >= '1' && c <= '9' || c >= 'a' && c <= 'z' && c != 'i' && c != 'l' && c != 'o';
    }

    private static InvalidNameException invalid(String text, int position) {
        return new InvalidNameException(
                NameRule.BAD_HANDLE,
                text,
                position,
                "a handle is three letters, an underscore and " + RANDOM_LENGTH + " characters of " + ALPHABET);
    }

    /** Written out, for the topology compares handles at every grant: the method that a record gets took 3 % of its thread. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Handle that && text.equals(that.text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public int compareTo(Handle other) {
        return text.compareTo(other.text);
    }

    @Override
    public String toString() {
        return text;
    }
}

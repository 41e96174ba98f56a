package dev.puri.schemas.identity;

/**
 * The public name of an identity, e.g. {@code trk_4k7vx9tz2nqr8w3}: the prefix of the collection, an underscore, and 15
 * random characters. A handle never changes and is never reused for another identity.
 *
 * @param text the canonical text, 19 ASCII characters
 */
public record Handle(String text) implements Comparable<Handle> {
    /** Length of a handle in characters. */
    public static final int LENGTH = 19;

    /** Number of random characters after the underscore. */
    public static final int RANDOM_LENGTH = 15;

    /** The characters that are used as random characters: digits and lower-case letters without 0, i, l and o. */
    public static final String ALPHABET = "123456789abcdefghjkmnpqrstuvwxyz";

    /** For each ASCII character, a bit set of the indexes at which a handle may contain the character. */
    private static final int[] ALLOWED_INDEXES = new int[128];

    static {
        for (char c = 'a'; c <= 'z'; c++) {
            ALLOWED_INDEXES[c] = (1 << Prefix.LENGTH) - 1;
        }
        ALLOWED_INDEXES['_'] = 1 << Prefix.LENGTH;
        for (char c : ALPHABET.toCharArray()) {
            ALLOWED_INDEXES[c] |= (1 << LENGTH) - (1 << Prefix.LENGTH + 1);
        }
    }

    /**
     * @throws InvalidNameException if the text is not a handle in lower case
     */
    public Handle {
        if (text.length() != LENGTH) {
            throw invalid(text, -1);
        }
        for (int i = 0; i < LENGTH; i++) {
            char c = text.charAt(i);
            if (c >= ALLOWED_INDEXES.length || (ALLOWED_INDEXES[c] & 1 << i) == 0) {
                throw invalid(text, i);
            }
        }
    }

    /**
     * Parses a handle. Upper-case letters are converted to lower case.
     *
     * @throws InvalidNameException if the text is not a handle
     */
    public static Handle parse(String text) {
        return new Handle(Ascii.lower(text));
    }

    /**
     * Creates a handle.
     *
     * @param random 15 characters of {@link #ALPHABET}
     * @throws InvalidNameException if {@code random} has another length or other characters
     */
    public static Handle of(Prefix prefix, String random) {
        return new Handle(prefix.text() + '_' + random);
    }

    /** Whether a text is more likely a handle than a pURI. Each pURI contains a colon, and no handle does. */
    public static boolean looksLike(String text) {
        return text.indexOf(':') < 0;
    }

    /** The prefix, which identifies the collection. */
    public Prefix prefix() {
        return new Prefix(text.substring(0, Prefix.LENGTH));
    }

    private static InvalidNameException invalid(String text, int position) {
        return new InvalidNameException(
                NameRule.BAD_HANDLE,
                text,
                position,
                "a handle is three letters, an underscore and " + RANDOM_LENGTH + " characters of " + ALPHABET);
    }

    /**
     * Compares the texts. The generated method of a record took 3 % of a stream thread, because the topology compares
     * handles at each grant.
     */
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

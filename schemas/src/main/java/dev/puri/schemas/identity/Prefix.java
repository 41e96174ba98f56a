package dev.puri.schemas.identity;

/**
 * The three letters with which all handles of a collection begin, e.g. {@code trk}. A prefix is never reassigned to
 * another collection.
 *
 * @param text three letters a–z
 */
public record Prefix(String text) implements Comparable<Prefix> {
    static final int LENGTH = 3;

    /**
     * @throws InvalidNameException if the text is not three letters a–z
     */
    public Prefix {
        if (text.length() != LENGTH) {
            throw invalid(text, -1);
        }
        for (int i = 0; i < LENGTH; i++) {
            if (text.charAt(i) < 'a' || text.charAt(i) > 'z') {
                throw invalid(text, i);
            }
        }
    }

    /**
     * Parses a prefix. Upper-case letters are lower-cased.
     *
     * @throws InvalidNameException if the text is not three letters
     */
    public static Prefix parse(String text) {
        return new Prefix(Ascii.lower(text));
    }

    private static InvalidNameException invalid(String text, int position) {
        return new InvalidNameException(NameRule.BAD_PREFIX, text, position, "a prefix is three letters a-z");
    }

    @Override
    public int compareTo(Prefix other) {
        return text.compareTo(other.text);
    }

    @Override
    public String toString() {
        return text;
    }
}

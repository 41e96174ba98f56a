package dev.puri.search.words;

import java.nio.charset.StandardCharsets;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.StringHelper;

/**
 * Builds the keyword term of an attribute: all words of the attribute with one blank between them, as a single term. A
 * term query then finds attributes that equal the typed text, and a prefix query finds attributes that start with it.
 * The term of a long attribute is its beginning and a hash of all its words, which bounds the size of the index.
 */
final class KeywordTerm {
    /** Maximum length of an attribute whose term has all words, in characters. */
    static final int MAX_FULL_CHARACTERS = 64;

    /** Length of the beginning that the term of a longer attribute has, in characters. */
    static final int PREFIX_CHARACTERS = 48;

    /** Separates the beginning from the hash. No word contains this character. */
    private static final char HASH_SEPARATOR = '\u0001';

    private KeywordTerm() {}

    /**
     * Returns the keyword term of an attribute or of a typed text.
     *
     * @param joined the words, as {@link TextAnalysis#join} returns them
     */
    static String of(String joined) {
        if (joined.length() <= MAX_FULL_CHARACTERS) {
            return joined;
        }
        boolean splitsPair = Character.isHighSurrogate(joined.charAt(PREFIX_CHARACTERS - 1));
        int prefixEnd = splitsPair ? PREFIX_CHARACTERS - 1 : PREFIX_CHARACTERS;
        byte[] utf8 = joined.getBytes(StandardCharsets.UTF_8);
        long hash = StringHelper.murmurhash3_x64_128(new BytesRef(utf8))[0];
        return joined.substring(0, prefixEnd) + HASH_SEPARATOR + Long.toHexString(hash);
    }
}

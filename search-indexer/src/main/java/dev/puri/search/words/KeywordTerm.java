package dev.puri.search.words;

import java.nio.charset.StandardCharsets;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.StringHelper;

/**
 * Makes one term of a whole attribute: its words with one blank between them. An exact match of the attribute and a
 * match of its first words then are one term query and one prefix query. The term of a long attribute is its beginning
 * and a hash of the whole; that is enough for both queries and bounds the size of the index.
 */
final class KeywordTerm {
    /** Longest attribute, in characters, that is kept in full. */
    static final int MAX_CHARACTERS = 64;

    /** Characters that are kept of a longer attribute. */
    static final int PREFIX_CHARACTERS = 48;

    /** Separates the beginning from the hash. No word contains it. */
    private static final char HASH_SEPARATOR = '\u0001';

    private KeywordTerm() {}

    /**
     * @param joined the result of {@link TextAnalysis#join}
     */
    static String of(String joined) {
        if (joined.length() <= MAX_CHARACTERS) {
            return joined;
        }
        int cut = Character.isHighSurrogate(joined.charAt(PREFIX_CHARACTERS - 1)) ? PREFIX_CHARACTERS - 1 : PREFIX_CHARACTERS;
        byte[] all = joined.getBytes(StandardCharsets.UTF_8);
        long hash = StringHelper.murmurhash3_x64_128(new BytesRef(all))[0];
        return joined.substring(0, cut) + HASH_SEPARATOR + Long.toHexString(hash);
    }
}

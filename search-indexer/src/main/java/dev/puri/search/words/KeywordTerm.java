package dev.puri.search.words;

import java.nio.charset.StandardCharsets;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.StringHelper;

/**
 * A whole attribute as one term, so that it can be told whether it is what somebody typed, or begins with it: its
 * words with one blank between them. Of a long one the term has the beginning and a hash of all of it: as much
 * as decides both, and no more of the index.
 */
final class KeywordTerm {
    /** Characters that a term has at most, but for what stands for the rest of a longer one. */
    static final int MAX_CHARACTERS = 64;

    /** Characters of a longer one that are kept. */
    static final int KEPT_CHARACTERS = 48;

    /** No word has it. */
    private static final char CUT = '\u0001';

    private KeywordTerm() {}

    /**
     * @param joined as {@link TextAnalysis#joined} makes it
     */
    static String term(String joined) {
        if (joined.length() <= MAX_CHARACTERS) {
            return joined;
        }
        int cut = Character.isHighSurrogate(joined.charAt(KEPT_CHARACTERS - 1)) ? KEPT_CHARACTERS - 1 : KEPT_CHARACTERS;
        byte[] all = joined.getBytes(StandardCharsets.UTF_8);
        long hash = StringHelper.murmurhash3_x64_128(new BytesRef(all))[0];
        return joined.substring(0, cut) + CUT + Long.toHexString(hash);
    }
}

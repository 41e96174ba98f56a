package dev.puri.search.words;

import java.io.IOException;
import org.apache.lucene.analysis.TokenFilter;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;

/** Removes combining accents (U+0300–U+036F), which decomposed Unicode text contains. */
final class CombiningMarkFilter extends TokenFilter {
    private final CharTermAttribute term = addAttribute(CharTermAttribute.class);

    CombiningMarkFilter(TokenStream input) {
        super(input);
    }

    @Override
    public boolean incrementToken() throws IOException {
        if (!input.incrementToken()) {
            return false;
        }
        char[] buffer = term.buffer();
        int newLength = 0;
        for (int i = 0; i < term.length(); i++) {
            if (buffer[i] < '\u0300' || buffer[i] > '\u036f') {
                buffer[newLength++] = buffer[i];
            }
        }
        term.setLength(newLength);
        return true;
    }
}

package dev.puri.search.words;

import java.io.IOException;
import org.apache.lucene.analysis.TokenFilter;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;

/** Drops combining accents (U+0300–U+036F), which decomposed Unicode has. */
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
        int kept = 0;
        for (int i = 0; i < term.length(); i++) {
            if (buffer[i] < '\u0300' || buffer[i] > '\u036f') {
                buffer[kept++] = buffer[i];
            }
        }
        term.setLength(kept);
        return true;
    }
}

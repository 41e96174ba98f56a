package dev.puri.search.words;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.LowerCaseFilter;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.miscellaneous.ASCIIFoldingFilter;
import org.apache.lucene.analysis.standard.StandardTokenizer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.analysis.tokenattributes.OffsetAttribute;

/**
 * What a word is: as Unicode divides text (UAX #29, a Han or Hiragana character for itself), in lower case,
 * without the accents of Latin letters however they are written, {@code ß} as {@code ss}. No word is too common
 * to be searched. For OpenSearch: tokenizer {@code standard} after a {@code pattern_replace} of
 * {@code [\u0300-\u036f]} by nothing, filters {@code lowercase} and {@code asciifolding}.
 */
public final class Words {
    /** Characters of a short text at most, such as a title or a name; each engine searches these and others apart. */
    public static final int MAX_BRIEF_CHARACTERS = 64;

    private static final Analyzer ANALYZER = analyzer();

    private Words() {}

    /**
     * One word of a text.
     *
     * @param text as it is looked for
     * @param start where it begins in the text it is of
     * @param end where the text goes on after it
     */
    public record Word(String text, int start, int end) {}

    /** For an index of words. */
    public static Analyzer analyzer() {
        return new Analyzer() {
            @Override
            protected TokenStreamComponents createComponents(String field) {
                StandardTokenizer divided = new StandardTokenizer();
                TokenStream folded = new ASCIIFoldingFilter(new CombiningMarkFilter(new LowerCaseFilter(divided)));
                return new TokenStreamComponents(divided, folded);
            }
        };
    }

    /** The words of a text, in its order. Thread-safe. */
    public static List<Word> of(String text) {
        List<Word> words = new ArrayList<>();
        try (TokenStream stream = ANALYZER.tokenStream("", text)) {
            CharTermAttribute term = stream.getAttribute(CharTermAttribute.class);
            OffsetAttribute offset = stream.getAttribute(OffsetAttribute.class);
            stream.reset();
            while (stream.incrementToken()) {
                words.add(new Word(term.toString(), offset.startOffset(), offset.endOffset()));
            }
            stream.end();
        } catch (IOException e) {
            throw new IllegalStateException("a text in memory is read without I/O", e);
        }
        return words;
    }
}

package dev.puri.search.words;

import java.io.IOException;
import java.io.Reader;
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
 * What a word is: as Unicode divides text (UAX #29, a Han or Hiragana character for itself) and as apostrophes divide
 * it, in lower case, without the accents of Latin letters however they are written, {@code ß} as {@code ss}. No word
 * is too common to be searched. For OpenSearch: tokenizer {@code standard} after a {@code pattern_replace} of
 * {@code [\u0300-\u036f]} by nothing and one of apostrophes by a blank, filters {@code lowercase} and
 * {@code asciifolding}.
 *
 * <p>Signs divide words and are no part of them. Where they are what tells two names apart, a word is kept with
 * its signs too ({@link #signed}).
 */
public final class TextAnalysis {
    /** Letters of each side of an ampersand that makes one name of both, as in {@code at&t}. */
    private static final int MAX_AMPERSAND_LETTERS = 2;

    private static final Analyzer ANALYZER = analyzer();

    private TextAnalysis() {}

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
            protected Reader initReader(String field, Reader reader) {
                return new ApostropheFilter(reader);
            }

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

    /**
     * TextAnalysis whose signs are a part of their name, with these signs:
     *
     * <pre>
     * c++   libstdc++6: libstdc++   c#       + and # behind a word, one before a blank or a sign, or more than one
     * .net                                   a full stop before a word of letters, and nothing before it
     * at&amp;t  r&amp;b                              an ampersand between two words of one or two letters
     * </pre>
     *
     * @param words those of the text, of which these have the places
     */
    static List<Word> signed(String text, List<Word> words) {
        List<Word> signed = new ArrayList<>();
        for (int i = 0; i < words.size(); i++) {
            Word word = words.get(i);
            int end = endOfSigns(text, word.end());
            if (end > word.end()) {
                signed.add(new Word(word.text() + text.substring(word.end(), end), word.start(), end));
            } else if (i + 1 < words.size() && isAmpersandBetween(text, word, words.get(i + 1))) {
                Word next = words.get(i + 1);
                signed.add(new Word(word.text() + '&' + next.text(), word.start(), next.end()));
                i++;
            } else if (isDotBefore(text, word)) {
                signed.add(new Word('.' + word.text(), word.start() - 1, word.end()));
            }
        }
        return signed;
    }

    private static int endOfSigns(String text, int from) {
        int end = from;
        while (end < text.length() && (text.charAt(end) == '+' || text.charAt(end) == '#')) {
            end++;
        }
        boolean goesOn = end < text.length() && Character.isLetterOrDigit(text.codePointAt(end));
        return end - from == 1 && goesOn ? from : end;
    }

    private static boolean isAmpersandBetween(String text, Word word, Word next) {
        return next.start() == word.end() + 1
                && text.charAt(word.end()) == '&'
                && word.text().length() <= MAX_AMPERSAND_LETTERS
                && next.text().length() <= MAX_AMPERSAND_LETTERS;
    }

    private static boolean isDotBefore(String text, Word word) {
        int dot = word.start() - 1;
        return dot >= 0
                && text.charAt(dot) == '.'
                && Character.isLetter(word.text().codePointAt(0))
                && (dot == 0
                        || Character.isWhitespace(text.charAt(dot - 1))
                        || "(\"'/".indexOf(text.charAt(dot - 1)) >= 0);
    }

    /** All words of a text with one blank between them, those with signs as they are written. */
    static String joined(List<Word> words, List<Word> signed) {
        StringBuilder joined = new StringBuilder();
        int next = 0;
        for (int i = 0; i < words.size(); ) {
            joined.append(joined.isEmpty() ? "" : " ");
            Word word = words.get(i);
            if (next < signed.size()
                    && signed.get(next).end() >= word.end()
                    && signed.get(next).start() <= word.start()) {
                Word whole = signed.get(next++);
                joined.append(whole.text());
                while (i < words.size() && words.get(i).end() <= whole.end()) {
                    i++;
                }
            } else {
                joined.append(word.text());
                i++;
            }
        }
        return joined.toString();
    }
}

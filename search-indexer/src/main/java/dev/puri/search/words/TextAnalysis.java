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
 * Splits text into words, for documents and for queries. Words are split by UAX #29 (each Han or Hiragana character is
 * a word) and at apostrophes. They are in lower case and without Latin accents, composed or decomposed; {@code ß} is
 * {@code ss}. There are no stop words. The analyzer {@code words} of {@code index.json} does the same in OpenSearch.
 *
 * <p>Symbols separate words and are not part of them. Where a symbol is part of a name, {@link #symbolWords} returns
 * the word together with its symbols.
 */
public final class TextAnalysis {
    /** The longest word on either side of an ampersand that joins two words into one name, as in {@code at&t}. */
    private static final int MAX_AMPERSAND_LETTERS = 2;

    private static final Analyzer ANALYZER = analyzer();

    private TextAnalysis() {}

    /**
     * One word of a text.
     *
     * @param text the normalized word
     * @param start offset of its first character in the original text
     * @param end offset behind its last character in the original text
     */
    public record Word(String text, int start, int end) {}

    /** Returns a new Lucene analyzer that splits text into these words. */
    public static Analyzer analyzer() {
        return new Analyzer() {
            @Override
            protected Reader initReader(String field, Reader reader) {
                return new ApostropheFilter(reader);
            }

            @Override
            protected TokenStreamComponents createComponents(String field) {
                StandardTokenizer tokenizer = new StandardTokenizer();
                TokenStream folded = new ASCIIFoldingFilter(new CombiningMarkFilter(new LowerCaseFilter(tokenizer)));
                return new TokenStreamComponents(tokenizer, folded);
            }
        };
    }

    /** Returns the words of a text in their order. Thread-safe. */
    public static List<Word> words(String text) {
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
            throw new IllegalStateException("reading a string failed", e);
        }
        return words;
    }

    /**
     * Returns the words that have symbols in their name, with these symbols:
     *
     * <pre>
     * c++   libstdc++6: libstdc++   c#       + and # behind a word: one before a blank or a symbol, or several
     * .net                                   a full stop before a word of letters, with nothing before it
     * at&amp;t  r&amp;b                              an ampersand between two words of one or two letters
     * </pre>
     *
     * @param words all words of the text
     */
    static List<Word> symbolWords(String text, List<Word> words) {
        List<Word> symbolWords = new ArrayList<>();
        for (int i = 0; i < words.size(); i++) {
            Word word = words.get(i);
            int end = endOfSymbols(text, word.end());
            if (end > word.end()) {
                symbolWords.add(new Word(word.text() + text.substring(word.end(), end), word.start(), end));
            } else if (i + 1 < words.size() && isAmpersandBetween(text, word, words.get(i + 1))) {
                Word next = words.get(i + 1);
                symbolWords.add(new Word(word.text() + '&' + next.text(), word.start(), next.end()));
                i++;
            } else if (isDotBefore(text, word)) {
                symbolWords.add(new Word('.' + word.text(), word.start() - 1, word.end()));
            }
        }
        return symbolWords;
    }

    private static int endOfSymbols(String text, int from) {
        int end = from;
        while (end < text.length() && (text.charAt(end) == '+' || text.charAt(end) == '#')) {
            end++;
        }
        boolean wordFollows = end < text.length() && Character.isLetterOrDigit(text.codePointAt(end));
        return end - from == 1 && wordFollows ? from : end;
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

    /** Joins all words of a text with one blank between them. Symbol words replace the plain words they contain. */
    static String join(List<Word> words, List<Word> symbolWords) {
        StringBuilder joined = new StringBuilder();
        int next = 0;
        for (int i = 0; i < words.size(); ) {
            joined.append(joined.isEmpty() ? "" : " ");
            Word word = words.get(i);
            if (next < symbolWords.size()
                    && symbolWords.get(next).end() >= word.end()
                    && symbolWords.get(next).start() <= word.start()) {
                Word symbolWord = symbolWords.get(next++);
                joined.append(symbolWord.text());
                while (i < words.size() && words.get(i).end() <= symbolWord.end()) {
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

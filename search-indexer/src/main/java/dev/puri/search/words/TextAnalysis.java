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
 * Splits the text of documents and queries into words, by the rules of UAX #29 (each Han or Hiragana character is a
 * word) and at apostrophes. A word is in lower case and has no Latin accents, whether the accents are composed or
 * decomposed; {@code ß} becomes {@code ss}. There are no stop words. In OpenSearch, the analyzer {@code words} of
 * {@code index.json} does the same.
 *
 * <p>Symbols separate words. Where a symbol is part of a name, as in {@code c++}, {@link #symbolWords} returns the word
 * with its symbols.
 */
public final class TextAnalysis {
    /** Maximum length of the words that an ampersand joins into one name, as in {@code at&t}. */
    private static final int MAX_AMPERSAND_LETTERS = 2;

    /**
     * Maximum number of symbols after a word, so that a text of symbols does not become a term that is too long for the
     * index. The tokenizer bounds the length of the words.
     */
    private static final int MAX_SYMBOLS = 64;

    private static final Analyzer ANALYZER = analyzer();

    private TextAnalysis() {}

    /**
     * One word of a text.
     *
     * @param text the normalized word
     * @param start offset of its first character in the original text
     * @param end offset after its last character in the original text
     */
    public record Word(String text, int start, int end) {}

    /** Returns a new Lucene analyzer that splits text into words. */
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
     * Returns the words that have symbols in their name, together with these symbols:
     *
     * <pre>
     * c++   libstdc++6: libstdc++   c#       one + or # after a word, not before a letter or digit; or up to 64
     * .net                                   a full stop before a letter; before the stop: nothing, blank, ( " ' or /
     * at&amp;t  r&amp;b                              an ampersand between two words of one or two letters
     * </pre>
     *
     * @param words all words of the text, as {@link #words} returns them
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
        int maxEnd = Math.min(text.length(), from + MAX_SYMBOLS);
        while (end < maxEnd && (text.charAt(end) == '+' || text.charAt(end) == '#')) {
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

    /** Joins all words of a text with one blank between them. A symbol word replaces the words that it contains. */
    static String join(List<Word> words, List<Word> symbolWords) {
        StringBuilder joined = new StringBuilder();
        int nextSymbolWord = 0;
        for (int i = 0; i < words.size(); ) {
            joined.append(joined.isEmpty() ? "" : " ");
            Word word = words.get(i);
            if (nextSymbolWord < symbolWords.size()
                    && symbolWords.get(nextSymbolWord).end() >= word.end()
                    && symbolWords.get(nextSymbolWord).start() <= word.start()) {
                Word symbolWord = symbolWords.get(nextSymbolWord++);
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

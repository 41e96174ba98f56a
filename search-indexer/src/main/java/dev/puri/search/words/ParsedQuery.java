package dev.puri.search.words;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The text that a user typed, as a list of clauses. A hit must match every clause, each in any of its attributes.
 *
 * <pre>
 * typed text     clauses
 * blue moon      "blue" and "moon", both also with a typo, and words that start with "moon", because the user may
 *                still type the last word
 * blue moon␣     "blue" and "moon", both also with a typo; the blank ends the last word
 * "blue moon"    a phrase: "blue" and then "moon" in one attribute, without typos
 * "blue moon     the same as blue moon, because the second quotation mark is missing
 * beet*          words that start with "beet"
 * AC/DC          "ac" and "dc"; symbols separate words
 * c++            "c", and "c++" with its symbols; see {@link TextAnalysis#symbolWords}
 * </pre>
 *
 * The parser accepts every text. To bound the cost of a query, it ignores the text after {@value #MAX_CHARACTERS}
 * characters, and the clauses have at most {@value #MAX_WORDS} words, and as many words with symbols. The keyword has
 * all words.
 *
 * @param clauses the clauses that a hit must match; if empty, the text has no word and nothing matches
 * @param keyword the {@link KeywordTerm} of the whole text; empty if the text has no word
 * @param isPlain whether the text has neither quotation marks nor asterisks
 * @param endsWithPrefix whether the last clause also matches words that start with its word
 */
public record ParsedQuery(List<Clause> clauses, String keyword, boolean isPlain, boolean endsWithPrefix) {
    /** Maximum number of characters that the parser reads. */
    public static final int MAX_CHARACTERS = 1000;

    /** Maximum number of words in all clauses together. Words with symbols are counted separately. */
    public static final int MAX_WORDS = 32;

    /** Minimum number of letters in a word that matches with a typo. */
    public static final int MIN_TYPO_LETTERS = 4;

    /** Maximum length of a word that matches with a typo, because a fuzzy query costs more for a longer word. */
    public static final int MAX_TYPO_CHARACTERS = 32;

    public ParsedQuery {
        clauses = List.copyOf(clauses);
    }

    /** A condition that a hit must match. {@link TextAnalysis} has normalized the words of a clause. */
    public sealed interface Clause {}

    /**
     * Matches a document that has a word equal to {@code text}. A word that starts with the text, or that is one typo
     * away, may also match, with a lower score. A typo inserts, deletes or replaces one character, or swaps two
     * neighbours.
     *
     * @param isPrefix whether words that start with the text match
     * @param allowsTypo whether words with one typo match; if the text has digits, the typo must not change the digits
     */
    public record WordClause(String text, boolean isPrefix, boolean allowsTypo) implements Clause {
        /** Returns whether a word of a document matches this clause. */
        boolean matches(String word) {
            return word.equals(text)
                    || isPrefix && word.startsWith(text)
                    || allowsTypo
                            && isOneEditAway(word)
                            && (!hasDigits() || digits(word).equals(digits(text)));
        }

        /** Returns whether the text has digits. If so, a typo must not change them; see {@link TypoPatterns}. */
        public boolean hasDigits() {
            return TypoPatterns.hasDigits(text);
        }

        private static String digits(String word) {
            return word.replaceAll("[^0-9]", "");
        }

        /** After the common prefix and suffix, at most one character of each word, or a swapped pair, may remain. */
        private boolean isOneEditAway(String word) {
            if (Math.abs(word.length() - text.length()) > 2) {
                return false;
            }
            int[] a = text.codePoints().toArray();
            int[] b = word.codePoints().toArray();
            int shorterLength = Math.min(a.length, b.length);
            int prefix = 0;
            while (prefix < shorterLength && a[prefix] == b[prefix]) {
                prefix++;
            }
            int suffix = 0;
            while (suffix < shorterLength - prefix && a[a.length - 1 - suffix] == b[b.length - 1 - suffix]) {
                suffix++;
            }
            int restOfA = a.length - prefix - suffix;
            int restOfB = b.length - prefix - suffix;
            return restOfA <= 1 && restOfB <= 1
                    || restOfA == 2 && restOfB == 2 && a[prefix] == b[prefix + 1] && a[prefix + 1] == b[prefix];
        }
    }

    /**
     * Matches a document in which the words follow one another in one attribute.
     *
     * @param words at least two words
     */
    public record PhraseClause(List<String> words) implements Clause {
        public PhraseClause {
            words = List.copyOf(words);
        }
    }

    /**
     * Matches a word with its symbols, such as {@code c++}. The word without its symbols has a clause of its own.
     *
     * @param isPrefix whether words that start with the text match too
     */
    public record SymbolClause(String text, boolean isPrefix) implements Clause {}

    /** Parses typed text. */
    public static ParsedQuery parse(String typedText) {
        return new Parser(typedText.substring(0, Math.min(typedText.length(), MAX_CHARACTERS))).parse();
    }

    /** Returns the words of all word clauses and phrases in the typed order. */
    public List<String> words() {
        List<String> words = new ArrayList<>();
        for (Clause clause : clauses) {
            switch (clause) {
                case WordClause word -> words.add(word.text());
                case PhraseClause phrase -> words.addAll(phrase.words());
                case SymbolClause symbolWord -> {
                    // The word without its symbols has a clause of its own.
                }
            }
        }
        return words;
    }

    /** Returns the prefix of the keyword terms that start with the typed words; null if the text is too long. */
    public @Nullable String wholeWordsPrefix() {
        return keyword.length() < KeywordTerm.PREFIX_CHARACTERS ? keyword + ' ' : null;
    }

    /**
     * Returns the prefix of the keyword terms that start with the typed text, whose last word may be unfinished. Null
     * if the last word is finished, or if the text is too short or too long.
     */
    public @Nullable String completionPrefix() {
        return endsWithPrefix
                        && keyword.length() >= ScoreModel.MIN_COMPLETION_CHARACTERS
                        && keyword.length() <= KeywordTerm.PREFIX_CHARACTERS
                ? keyword
                : null;
    }

    /**
     * Returns each beginning and each end of the typed text, in whole words. If the user typed a title and words of
     * another attribute, one of them is the title. Empty for a long text and for a single word.
     */
    public Set<String> possibleTitles() {
        Set<String> titles = new LinkedHashSet<>();
        if (keyword.length() <= KeywordTerm.MAX_FULL_CHARACTERS) {
            for (int blank = keyword.indexOf(' '); blank > 0; blank = keyword.indexOf(' ', blank + 1)) {
                titles.add(keyword.substring(0, blank));
                titles.add(keyword.substring(blank + 1));
            }
        }
        return titles;
    }

    /**
     * Returns the typed text if it may be a whole title with one typo; see {@link TypoPatterns}. The typo may be in a
     * short word or a blank, because the rest of the text identifies the title. Null if the text has quotation marks or
     * asterisks, if it is too short or too long, or if the clause of every word allows a typo.
     */
    public @Nullable String titleWithTypo() {
        boolean everyWordAllowsTypo =
                clauses.stream().allMatch(each -> each instanceof WordClause word && word.allowsTypo());
        return isPlain
                        && !everyWordAllowsTypo
                        && keyword.length() >= MIN_TYPO_LETTERS
                        && keyword.length() <= KeywordTerm.PREFIX_CHARACTERS
                        && keyword.codePoints().filter(Character::isLetter).count() >= MIN_TYPO_LETTERS
                ? keyword
                : null;
    }

    /** Splits the text at the quotation marks; adds the clauses of each part. */
    private static final class Parser {
        private final String typedText;
        private final Set<Clause> clauses = new LinkedHashSet<>();
        private int wordCount;
        private int symbolWordCount;

        private Parser(String typedText) {
            this.typedText = typedText;
        }

        private ParsedQuery parse() {
            int from = 0;
            while (from < typedText.length()) {
                int openQuote = typedText.indexOf('"', from);
                int closeQuote = openQuote < 0 ? -1 : typedText.indexOf('"', openQuote + 1);
                if (closeQuote < 0) {
                    addWords(from, typedText.length());
                    break;
                }
                addWords(from, openQuote);
                addPhrase(typedText.substring(openQuote + 1, closeQuote));
                from = closeQuote + 1;
            }
            List<TextAnalysis.Word> allWords = TextAnalysis.words(typedText);
            String keyword = KeywordTerm.of(TextAnalysis.join(allWords, TextAnalysis.symbolWords(typedText, allWords)));
            boolean isPlain = typedText.indexOf('"') < 0 && typedText.indexOf('*') < 0;
            boolean endsWithPrefix = !clauses.isEmpty()
                    && switch (List.copyOf(clauses).getLast()) {
                        case WordClause word -> word.isPrefix();
                        case SymbolClause symbolWord -> symbolWord.isPrefix();
                        case PhraseClause phrase -> false;
                    };
            return new ParsedQuery(List.copyOf(clauses), keyword, isPlain, endsWithPrefix);
        }

        private void addWords(int from, int to) {
            String part = typedText.substring(from, to);
            List<TextAnalysis.Word> words = TextAnalysis.words(part);
            List<TextAnalysis.Word> symbolWords = TextAnalysis.symbolWords(part, words);
            symbolWords.forEach(each -> addSymbolWord(each.text(), isPrefix(part, each, from)));
            for (TextAnalysis.Word word : words) {
                boolean hasSymbols =
                        symbolWords.stream().anyMatch(each -> each.start() <= word.start() && word.end() <= each.end());
                boolean allowsTypo = !hasAsterisk(part, word) && !hasSymbols && allowsTypo(word.text());
                add(new WordClause(word.text(), isPrefix(part, word, from), allowsTypo), 1);
            }
        }

        /** Returns whether an asterisk or the end of the typed text follows a word. */
        private boolean isPrefix(String part, TextAnalysis.Word word, int from) {
            return hasAsterisk(part, word) || from + word.end() == typedText.length();
        }

        private static boolean hasAsterisk(String part, TextAnalysis.Word word) {
            return word.end() < part.length() && part.charAt(word.end()) == '*';
        }

        private void addSymbolWord(String text, boolean isPrefix) {
            if (wordCount < MAX_WORDS && symbolWordCount < MAX_WORDS) {
                symbolWordCount++;
                clauses.add(new SymbolClause(text, isPrefix));
            }
        }

        private void addPhrase(String quoted) {
            List<TextAnalysis.Word> words = TextAnalysis.words(quoted);
            TextAnalysis.symbolWords(quoted, words).forEach(each -> addSymbolWord(each.text(), false));
            List<String> phrase = words.stream()
                    .limit(MAX_WORDS - wordCount)
                    .map(TextAnalysis.Word::text)
                    .toList();
            if (phrase.size() == 1) {
                add(new WordClause(phrase.getFirst(), false, false), 1);
            } else if (!phrase.isEmpty()) {
                add(new PhraseClause(phrase), phrase.size());
            }
        }

        private void add(Clause clause, int clauseWordCount) {
            if (wordCount < MAX_WORDS) {
                wordCount += clauseWordCount;
                clauses.add(clause);
            }
        }

        /** Returns whether a word has enough letters, and only letters and digits. */
        private static boolean allowsTypo(String word) {
            return word.codePoints().filter(Character::isLetter).count() >= MIN_TYPO_LETTERS
                    && word.codePointCount(0, word.length()) <= MAX_TYPO_CHARACTERS
                    && word.codePoints().allMatch(each -> Character.isLetter(each) || TypoPatterns.isDigit(each));
        }
    }
}

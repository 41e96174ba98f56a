package dev.puri.search.words;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Typed text as a list of clauses. A hit must match every clause, each in any of its attributes.
 *
 * <pre>
 * blue moon      the word "blue", also with a typo; a word that starts with "moon", which may still be being typed
 * blue moon␣     the blank ends the last word: "moon" itself, also with a typo
 * "blue moon"    a phrase: these words, one after the other in one attribute, without typos
 * "blue moon     without the second quotation mark: like blue moon
 * beet*          a word that starts with "beet"
 * AC/DC          the words "ac" and "dc"; symbols separate words
 * c++            the word "c", and the word with its symbols; see {@link TextAnalysis#symbolWords}
 * </pre>
 *
 * No text is an error. The parser ignores text beyond {@value #MAX_CHARACTERS} characters or {@value #MAX_WORDS} words,
 * which bounds the cost of a query.
 *
 * @param clauses the clauses that a hit must match; empty if the text has no word, and then nothing matches
 * @param keyword the whole text as one term, like the terms in {@link IndexedText#keywords()}; empty if there is no
 *     word
 * @param isPlain whether the text has neither quotation marks nor asterisks
 * @param endsWithPrefix whether the last word matches words that start with it
 */
public record ParsedQuery(List<Clause> clauses, String keyword, boolean isPlain, boolean endsWithPrefix) {
    /** Characters of the text that are read. */
    public static final int MAX_CHARACTERS = 1000;

    /** Words in all clauses together. */
    public static final int MAX_WORDS = 32;

    /** Letters that a word must have to match with a typo. */
    public static final int MIN_TYPO_LETTERS = 4;

    /** Longest word, in characters, that matches with a typo. A fuzzy query costs more for a longer word. */
    public static final int MAX_TYPO_CHARACTERS = 32;

    public ParsedQuery {
        clauses = List.copyOf(clauses);
    }

    /** One condition of a query. Its words are normalized by {@link TextAnalysis}. */
    public sealed interface Clause {}

    /**
     * Matches a word that equals the text (best), starts with it, or is one typo away (worst). A typo is a character
     * inserted, deleted or replaced, or two neighbours swapped.
     *
     * @param isPrefix whether words that start with the text match
     * @param allowsTypo whether words with one typo match; in a word with digits the typo must keep the digits
     */
    public record WordClause(String text, boolean isPrefix, boolean allowsTypo) implements Clause {
        /** Returns whether a word of a document matches. */
        boolean matches(String word) {
            return word.equals(text)
                    || isPrefix && word.startsWith(text)
                    || allowsTypo
                            && isOneEditAway(word)
                            && (!hasDigits() || digits(word).equals(digits(text)));
        }

        /** Returns whether typos are those of {@link TypoPattern}. Otherwise a typo may change any character. */
        public boolean hasDigits() {
            return TypoPattern.hasDigits(text);
        }

        private static String digits(String word) {
            return word.replaceAll("[^0-9]", "");
        }

        /** Strips the common prefix and suffix; at most one character of each word, or a swapped pair, may remain. */
        private boolean isOneEditAway(String word) {
            if (Math.abs(word.length() - text.length()) > 2) {
                return false;
            }
            int[] a = text.codePoints().toArray();
            int[] b = word.codePoints().toArray();
            int shorter = Math.min(a.length, b.length);
            int prefix = 0;
            while (prefix < shorter && a[prefix] == b[prefix]) {
                prefix++;
            }
            int suffix = 0;
            while (suffix < shorter - prefix && a[a.length - 1 - suffix] == b[b.length - 1 - suffix]) {
                suffix++;
            }
            int restOfA = a.length - prefix - suffix;
            int restOfB = b.length - prefix - suffix;
            return restOfA <= 1 && restOfB <= 1
                    || restOfA == 2 && restOfB == 2 && a[prefix] == b[prefix + 1] && a[prefix + 1] == b[prefix];
        }
    }

    /**
     * Matches words that follow one another in one attribute.
     *
     * @param words two or more
     */
    public record PhraseClause(List<String> words) implements Clause {
        public PhraseClause {
            words = List.copyOf(words);
        }
    }

    /**
     * Matches a word with its symbols, as {@code c++}. The word without symbols has a clause of its own.
     *
     * @param isPrefix whether words that start with the text match
     */
    public record SymbolClause(String text, boolean isPrefix) implements Clause {}

    /** Parses typed text. */
    public static ParsedQuery parse(String typed) {
        return new Parser(typed.length() <= MAX_CHARACTERS ? typed : typed.substring(0, MAX_CHARACTERS)).parse();
    }

    /** Returns the words of all clauses in the typed order. */
    public List<String> words() {
        List<String> words = new ArrayList<>();
        for (Clause clause : clauses) {
            switch (clause) {
                case WordClause word -> words.add(word.text());
                case PhraseClause phrase -> words.addAll(phrase.words());
                case SymbolClause symbolWord -> {
                    // The word itself is another clause.
                }
            }
        }
        return words;
    }

    /** Returns the prefix of all attributes that start with the typed words; null if the text is too long for that. */
    public @Nullable String startPrefix() {
        return keyword.length() < KeywordTerm.PREFIX_CHARACTERS ? keyword + ' ' : null;
    }

    /**
     * Returns the prefix of all attributes that complete the typed text; null if it is complete, too short or too long.
     */
    public @Nullable String completionPrefix() {
        return endsWithPrefix
                        && keyword.length() >= ScoreModel.MIN_COMPLETION_CHARACTERS
                        && keyword.length() <= KeywordTerm.PREFIX_CHARACTERS
                ? keyword
                : null;
    }

    /**
     * Returns the typed text without its last words, and without its first words. Whoever types a title and a word of
     * the description means the title. Empty for long texts and for a single word.
     */
    public Set<String> possibleTitles() {
        Set<String> candidates = new LinkedHashSet<>();
        if (keyword.length() <= KeywordTerm.MAX_FULL_CHARACTERS) {
            for (int blank = keyword.indexOf(' '); blank > 0; blank = keyword.indexOf(' ', blank + 1)) {
                candidates.add(keyword.substring(0, blank));
                candidates.add(keyword.substring(blank + 1));
            }
        }
        return candidates;
    }

    /**
     * Returns the text for which to search titles with one typo in the whole title; see {@link TypoPattern}. This finds
     * typos in short words and in blanks, since the rest of the title shows what is meant. Null if the text is too
     * short or too long, or if every word matches with a typo anyway.
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

    /** Reads the text from one quotation mark to the next. */
    private static final class Parser {
        private final String typed;
        private final Set<Clause> clauses = new LinkedHashSet<>();
        private int words;

        private Parser(String typed) {
            this.typed = typed;
        }

        private ParsedQuery parse() {
            int from = 0;
            while (from < typed.length()) {
                int open = typed.indexOf('"', from);
                int close = open < 0 ? -1 : typed.indexOf('"', open + 1);
                if (close < 0) {
                    addWords(from, typed.length());
                    break;
                }
                addWords(from, open);
                addPhrase(typed.substring(open + 1, close));
                from = close + 1;
            }
            List<TextAnalysis.Word> all = TextAnalysis.words(typed);
            String keyword = KeywordTerm.of(TextAnalysis.join(all, TextAnalysis.symbolWords(typed, all)));
            boolean isPlain = typed.indexOf('"') < 0 && typed.indexOf('*') < 0;
            boolean endsWithPrefix = !clauses.isEmpty()
                    && switch (List.copyOf(clauses).getLast()) {
                        case WordClause word -> word.isPrefix();
                        case SymbolClause symbolWord -> symbolWord.isPrefix();
                        case PhraseClause phrase -> false;
                    };
            return new ParsedQuery(List.copyOf(clauses), keyword, isPlain, endsWithPrefix);
        }

        private void addWords(int from, int to) {
            String part = typed.substring(from, to);
            List<TextAnalysis.Word> found = TextAnalysis.words(part);
            List<TextAnalysis.Word> symbolWords = TextAnalysis.symbolWords(part, found);
            symbolWords.forEach(each -> addSymbolWord(each.text(), isPrefix(part, each, from)));
            for (TextAnalysis.Word word : found) {
                boolean hasSymbols =
                        symbolWords.stream().anyMatch(each -> each.start() <= word.start() && word.end() <= each.end());
                boolean allowsTypo = !hasAsterisk(part, word) && !hasSymbols && allowsTypo(word.text());
                add(new WordClause(word.text(), isPrefix(part, word, from), allowsTypo), 1);
            }
        }

        private boolean isPrefix(String part, TextAnalysis.Word word, int from) {
            return hasAsterisk(part, word) || from + word.end() == typed.length();
        }

        private static boolean hasAsterisk(String part, TextAnalysis.Word word) {
            return word.end() < part.length() && part.charAt(word.end()) == '*';
        }

        private void addSymbolWord(String text, boolean isPrefix) {
            if (words < MAX_WORDS) {
                clauses.add(new SymbolClause(text, isPrefix));
            }
        }

        private void addPhrase(String quoted) {
            List<TextAnalysis.Word> found = TextAnalysis.words(quoted);
            TextAnalysis.symbolWords(quoted, found).forEach(each -> addSymbolWord(each.text(), false));
            List<String> texts = found.stream()
                    .limit(MAX_WORDS - words)
                    .map(TextAnalysis.Word::text)
                    .toList();
            if (texts.size() == 1) {
                add(new WordClause(texts.getFirst(), false, false), 1);
            } else if (!texts.isEmpty()) {
                add(new PhraseClause(texts), texts.size());
            }
        }

        private void add(Clause clause, int size) {
            if (words < MAX_WORDS) {
                words += size;
                clauses.add(clause);
            }
        }

        /** Returns whether a word has enough letters, and only letters and digits. 1998 is not a typo of 1999. */
        private static boolean allowsTypo(String word) {
            return word.codePoints().filter(Character::isLetter).count() >= MIN_TYPO_LETTERS
                    && word.codePointCount(0, word.length()) <= MAX_TYPO_CHARACTERS
                    && word.codePoints().allMatch(each -> Character.isLetter(each) || TypoPattern.isDigit(each));
        }
    }
}

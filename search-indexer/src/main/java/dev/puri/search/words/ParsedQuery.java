package dev.puri.search.words;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What somebody typed, understood. A hit must meet every clause, each in any of its attributes.
 *
 * <pre>
 * blue moon      the word "blue", or one that is a slip away; a word that begins with "moon", as somebody types on
 * blue moon␣     a blank ends the last word: "moon" itself, or a slip away
 * "blue moon"    these words, one after the other in one attribute, without slips; without the second sign: as if
 *                there were none
 * beet*          a word that begins with "beet"
 * AC/DC          the words "ac" and "dc", as signs divide words
 * c++            the word "c", with these signs behind it; see {@link TextAnalysis#signed}
 * </pre>
 *
 * Nothing that is typed is an error. What comes after {@value #MAX_CHARACTERS} characters or
 * {@value #MAX_WORDS} words is not looked at, so that a query's cost is bounded.
 *
 * @param clauses what a hit must meet; none when there is no word, which finds nothing
 * @param whole all that was typed, as {@link IndexedText#wholes} has attributes; empty when there is no word
 * @param isPlain whether it was typed without signs of its own meaning, so that slips are forgiven
 * @param isOpen whether the last word may go on
 */
public record ParsedQuery(List<Clause> clauses, String whole, boolean isPlain, boolean isOpen) {
    /** What is typed is looked at so far. */
    public static final int MAX_CHARACTERS = 1000;

    /** TextAnalysis that are looked for at most, those of phrases among them. */
    public static final int MAX_WORDS = 32;

    /** Letters that a word must have for a slip to be forgiven. */
    public static final int MIN_SLIP_LETTERS = 4;

    /** And may have at most: engines look for slips the longer, the longer a word is. */
    public static final int MAX_SLIP_LETTERS = 32;

    public ParsedQuery {
        clauses = List.copyOf(clauses);
    }

    /** One thing that a hit must have. TextAnalysis are as {@link TextAnalysis} makes them. */
    public sealed interface Clause {}

    /**
     * A word that equals it, best; or begins with it; or is one slip away (a letter more, less, another, or two
     * neighbours swapped), worst.
     *
     * @param open whether a word may begin with it
     * @param slip whether a slip is forgiven; in a word with digits, one that leaves these as they are
     */
    public record Word(String text, boolean open, boolean slip) implements Clause {
        /** Whether a word of a text meets it. */
        boolean isMetBy(String other) {
            return other.equals(text)
                    || open && other.startsWith(text)
                    || slip
                            && isOneSlipAway(other)
                            && (!hasDigits() || digits(other).equals(digits(text)));
        }

        /** Whether slips are those of {@link TypoPattern}; otherwise of any character. */
        public boolean hasDigits() {
            return TypoPattern.hasDigits(text);
        }

        private static String digits(String word) {
            return word.replaceAll("[^0-9]", "");
        }

        /** What equals from both ends leaves at most one letter each, or two that are swapped. */
        private boolean isOneSlipAway(String other) {
            if (Math.abs(other.length() - text.length()) > 2) {
                return false;
            }
            int[] a = text.codePoints().toArray();
            int[] b = other.codePoints().toArray();
            int shorter = Math.min(a.length, b.length);
            int same = 0;
            while (same < shorter && a[same] == b[same]) {
                same++;
            }
            int sameAtEnd = 0;
            while (sameAtEnd < shorter - same && a[a.length - 1 - sameAtEnd] == b[b.length - 1 - sameAtEnd]) {
                sameAtEnd++;
            }
            int leftOfA = a.length - same - sameAtEnd;
            int leftOfB = b.length - same - sameAtEnd;
            return leftOfA <= 1 && leftOfB <= 1
                    || leftOfA == 2 && leftOfB == 2 && a[same] == b[same + 1] && a[same + 1] == b[same];
        }
    }

    /**
     * TextAnalysis that stand one after the other in one attribute.
     *
     * @param words two or more
     */
    public record Phrase(List<String> words) implements Clause {
        public Phrase {
            words = List.copyOf(words);
        }
    }

    /**
     * A word with signs that belong to it, which is wanted beside the word: {@code c++} is not {@code c}.
     *
     * @param open whether one that begins with it does
     */
    public record Signed(String text, boolean open) implements Clause {}

    /** Understands what somebody typed. */
    public static ParsedQuery parse(String typed) {
        return new Reading(typed.length() <= MAX_CHARACTERS ? typed : typed.substring(0, MAX_CHARACTERS)).read();
    }

    /** All words, those of phrases among them, in the order in which they were typed. */
    public List<String> words() {
        List<String> words = new ArrayList<>();
        for (Clause clause : clauses) {
            switch (clause) {
                case Word word -> words.add(word.text());
                case Phrase phrase -> words.addAll(phrase.words());
                case Signed signed -> {
                    // Its word is a clause of its own.
                }
            }
        }
        return words;
    }

    /** What an attribute begins with that begins with these words; null where that cannot be told. */
    public @Nullable String beginning() {
        return whole.length() < KeywordTerm.KEPT_CHARACTERS ? whole + ' ' : null;
    }

    /** What an attribute begins with that is still typed; null where nothing is, or it would tell too little. */
    public @Nullable String typedOn() {
        return isOpen && whole.length() >= ScoreModel.MIN_TYPED_ON && whole.length() <= KeywordTerm.KEPT_CHARACTERS
                ? whole
                : null;
    }

    /**
     * What was typed without its last words or without its first: somebody who types a name and a word of its
     * description means the name. Only of short texts, and none of less than two words.
     */
    public Set<String> parts() {
        Set<String> parts = new LinkedHashSet<>();
        if (whole.length() <= KeywordTerm.MAX_CHARACTERS) {
            for (int blank = whole.indexOf(' '); blank > 0; blank = whole.indexOf(' ', blank + 1)) {
                parts.add(whole.substring(0, blank));
                parts.add(whole.substring(blank + 1));
            }
        }
        return parts;
    }

    /**
     * What a title is looked for as a whole that is a slip away, as {@link TypoPattern} has them: of short words too, as the
     * others tell what is meant, and with blanks that are missing or too many. Null where that would tell too little,
     * or a slip is forgiven in every word anyway.
     */
    public @Nullable String titleWithSlip() {
        boolean haveSlips = clauses.stream().allMatch(each -> each instanceof Word word && word.slip());
        return isPlain
                        && !haveSlips
                        && whole.length() >= MIN_SLIP_LETTERS
                        && whole.length() <= KeywordTerm.KEPT_CHARACTERS
                        && whole.codePoints().filter(Character::isLetter).count() >= MIN_SLIP_LETTERS
                ? whole
                : null;
    }

    /** From quotation mark to quotation mark. */
    private static final class Reading {
        private final String typed;
        private final Set<Clause> clauses = new LinkedHashSet<>();
        private int words;

        private Reading(String typed) {
            this.typed = typed;
        }

        private ParsedQuery read() {
            int from = 0;
            while (from < typed.length()) {
                int open = typed.indexOf('"', from);
                int close = open < 0 ? -1 : typed.indexOf('"', open + 1);
                if (close < 0) {
                    plain(from, typed.length());
                    break;
                }
                plain(from, open);
                phrase(typed.substring(open + 1, close));
                from = close + 1;
            }
            List<TextAnalysis.Word> all = TextAnalysis.of(typed);
            String whole = KeywordTerm.term(TextAnalysis.joined(all, TextAnalysis.signed(typed, all)));
            boolean isPlain = typed.indexOf('"') < 0 && typed.indexOf('*') < 0;
            boolean isOpen = !clauses.isEmpty()
                    && switch (List.copyOf(clauses).getLast()) {
                        case Word word -> word.open();
                        case Signed signed -> signed.open();
                        case Phrase phrase -> false;
                    };
            return new ParsedQuery(List.copyOf(clauses), whole, isPlain, isOpen);
        }

        private void plain(int from, int to) {
            String part = typed.substring(from, to);
            List<TextAnalysis.Word> found = TextAnalysis.of(part);
            List<TextAnalysis.Word> signed = TextAnalysis.signed(part, found);
            signed.forEach(each -> addSigned(each.text(), isOpen(part, each, from)));
            for (TextAnalysis.Word word : found) {
                boolean hasSigns =
                        signed.stream().anyMatch(each -> each.start() <= word.start() && word.end() <= each.end());
                boolean starred = isStarred(part, word);
                add(new Word(word.text(), isOpen(part, word, from), !starred && !hasSigns && maySlip(word.text())), 1);
            }
        }

        private boolean isOpen(String part, TextAnalysis.Word word, int from) {
            return isStarred(part, word) || from + word.end() == typed.length();
        }

        private static boolean isStarred(String part, TextAnalysis.Word word) {
            return word.end() < part.length() && part.charAt(word.end()) == '*';
        }

        private void addSigned(String text, boolean open) {
            if (words < MAX_WORDS) {
                clauses.add(new Signed(text, open));
            }
        }

        private void phrase(String quoted) {
            List<TextAnalysis.Word> found = TextAnalysis.of(quoted);
            TextAnalysis.signed(quoted, found).forEach(each -> addSigned(each.text(), false));
            List<String> texts = found.stream()
                    .limit(MAX_WORDS - words)
                    .map(TextAnalysis.Word::text)
                    .toList();
            if (texts.size() == 1) {
                add(new Word(texts.getFirst(), false, false), 1);
            } else if (!texts.isEmpty()) {
                add(new Phrase(texts), texts.size());
            }
        }

        private void add(Clause clause, int size) {
            if (words < MAX_WORDS) {
                words += size;
                clauses.add(clause);
            }
        }

        /** Of letters and digits. Numbers are not slips of one another: 1998 is another year than 1999. */
        private static boolean maySlip(String word) {
            return word.codePoints().filter(Character::isLetter).count() >= MIN_SLIP_LETTERS
                    && word.codePointCount(0, word.length()) <= MAX_SLIP_LETTERS
                    && word.codePoints().allMatch(each -> Character.isLetter(each) || TypoPattern.isDigit(each));
        }
    }
}

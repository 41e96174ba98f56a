package dev.puri.search.words;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

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
 * </pre>
 *
 * Nothing that is typed is an error. What comes after {@value #MAX_CHARACTERS} characters or
 * {@value #MAX_WORDS} words is not looked at, so that a query's cost is bounded.
 *
 * @param clauses what a hit must meet; none when there is no word, which finds nothing
 */
public record Wanted(List<Clause> clauses) {
    /** What is typed is looked at so far. */
    public static final int MAX_CHARACTERS = 1000;

    /** Words that are looked for at most, those of phrases among them. */
    public static final int MAX_WORDS = 32;

    /** Letters that a word must have for a slip to be forgiven. */
    public static final int MIN_SLIP_LETTERS = 4;

    /** And may have at most: engines look for slips the longer, the longer a word is. */
    public static final int MAX_SLIP_LETTERS = 32;

    public Wanted {
        clauses = List.copyOf(clauses);
    }

    /** One thing that a hit must have. Words are as {@link Words} makes them. */
    public sealed interface Clause {}

    /**
     * A word that equals it, best; or begins with it; or is one slip away (a letter more, less, another, or two
     * neighbours swapped), worst.
     *
     * @param open whether a word may begin with it
     * @param slip whether a slip is forgiven
     */
    public record Word(String text, boolean open, boolean slip) implements Clause {
        /** Whether a word of a text meets it. */
        boolean isMetBy(String other) {
            return other.equals(text) || open && other.startsWith(text) || slip && isOneSlipAway(other);
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
     * Words that stand one after the other in one attribute.
     *
     * @param words two or more
     */
    public record Phrase(List<String> words) implements Clause {
        public Phrase {
            words = List.copyOf(words);
        }
    }

    /** Understands what somebody typed. */
    public static Wanted parse(String typed) {
        return new Reading(typed.length() <= MAX_CHARACTERS ? typed : typed.substring(0, MAX_CHARACTERS)).read();
    }

    /** From quotation mark to quotation mark. */
    private static final class Reading {
        private final String typed;
        private final Set<Clause> clauses = new LinkedHashSet<>();
        private int words;

        private Reading(String typed) {
            this.typed = typed;
        }

        private Wanted read() {
            int from = 0;
            while (from < typed.length()) {
                int open = typed.indexOf('"', from);
                int close = open < 0 ? -1 : typed.indexOf('"', open + 1);
                if (close < 0) {
                    plain(from, typed.length());
                    break;
                }
                plain(from, open);
                phrase(Words.of(typed.substring(open + 1, close)));
                from = close + 1;
            }
            return new Wanted(List.copyOf(clauses));
        }

        private void plain(int from, int to) {
            String part = typed.substring(from, to);
            for (Words.Word word : Words.of(part)) {
                boolean starred = word.end() < part.length() && part.charAt(word.end()) == '*';
                boolean typedOn = from + word.end() == typed.length();
                add(new Word(word.text(), starred || typedOn, !starred && maySlip(word.text())), 1);
            }
        }

        private void phrase(List<Words.Word> found) {
            List<String> texts = found.stream()
                    .limit(MAX_WORDS - words)
                    .map(Words.Word::text)
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

        /** Numbers and codes are not slips of one another. */
        private static boolean maySlip(String word) {
            int letters = word.codePointCount(0, word.length());
            return letters >= MIN_SLIP_LETTERS
                    && letters <= MAX_SLIP_LETTERS
                    && word.codePoints().allMatch(Character::isLetter);
        }
    }
}

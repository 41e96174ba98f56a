package dev.puri.search.words;

import org.apache.lucene.util.automaton.Automaton;
import org.apache.lucene.util.automaton.Operations;

/**
 * What is one slip away and keeps its digits: a character less, more or another that is no digit, or two neighbours
 * swapped that are not both digits. Neither engine has slips that spare some characters. OpenSearch gets a regular
 * expression of them; Lucene the automaton itself, as it takes milliseconds to make one of the expression.
 */
public final class TypoPattern {
    private static final String ANY = "[^0-9]";

    /** The automaton of the longest text is far below. */
    private static final int MAX_WORK = 100_000;

    private TypoPattern() {}

    static boolean isDigit(int character) {
        return character >= '0' && character <= '9';
    }

    static boolean hasDigits(String text) {
        return text.codePoints().anyMatch(TypoPattern::isDigit);
    }

    /** A regular expression. */
    public static String expression(String text) {
        int[] characters = text.codePoints().toArray();
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < characters.length; i++) {
            all.append("((");
            if (!isDigit(characters[i])) {
                // Less, or another.
                all.append(ANY).append('?');
                append(all, characters, i + 1, characters.length);
                all.append('|');
            }
            // More.
            all.append(ANY);
            append(all, characters, i, characters.length);
            if (i + 1 < characters.length && !(isDigit(characters[i]) && isDigit(characters[i + 1]))) {
                all.append('|');
                append(all, characters, i + 1, i + 2);
                append(all, characters, i, i + 1);
                append(all, characters, i + 2, characters.length);
            }
            all.append(")|");
            append(all, characters, i, i + 1);
        }
        all.append(ANY);
        all.append(")".repeat(characters.length));
        return all.toString();
    }

    /** The same, deterministic, over code points. */
    public static Automaton automaton(String text) {
        int[] characters = text.codePoints().toArray();
        int length = characters.length;
        Automaton.Builder slips = new Automaton.Builder();
        int[] right = new int[length + 1];
        int[] slipped = new int[length + 1];
        for (int i = 0; i <= length; i++) {
            right[i] = slips.createState();
            slipped[i] = slips.createState();
        }
        slips.setAccept(slipped[length], true);
        for (int i = 0; i <= length; i++) {
            addAny(slips, right[i], slipped[i]);
            if (i == length) {
                continue;
            }
            slips.addTransition(right[i], right[i + 1], characters[i]);
            slips.addTransition(slipped[i], slipped[i + 1], characters[i]);
            if (!isDigit(characters[i])) {
                addAny(slips, right[i], slipped[i + 1]);
                if (i + 1 == length) {
                    slips.setAccept(right[i], true);
                } else {
                    slips.addTransition(right[i], slipped[i + 2], characters[i + 1]);
                }
            }
            if (i + 1 < length && !(isDigit(characters[i]) && isDigit(characters[i + 1]))) {
                int swapped = slips.createState();
                slips.addTransition(right[i], swapped, characters[i + 1]);
                slips.addTransition(swapped, slipped[i + 2], characters[i]);
            }
        }
        return Operations.determinize(slips.finish(), MAX_WORK);
    }

    private static void addAny(Automaton.Builder slips, int from, int to) {
        slips.addTransition(from, to, Character.MIN_CODE_POINT, '0' - 1);
        slips.addTransition(from, to, '9' + 1, Character.MAX_CODE_POINT);
    }

    private static void append(StringBuilder all, int[] characters, int from, int to) {
        for (int i = from; i < to; i++) {
            if (!Character.isLetterOrDigit(characters[i])) {
                all.append('\\');
            }
            all.appendCodePoint(characters[i]);
        }
    }
}

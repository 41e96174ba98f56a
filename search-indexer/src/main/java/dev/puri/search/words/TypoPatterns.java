package dev.puri.search.words;

import org.apache.lucene.util.automaton.Automaton;
import org.apache.lucene.util.automaton.Operations;

/**
 * Builds patterns for the strings that are one edit away from a text and have the same digits in the same order. An
 * edit deletes, inserts or replaces one character, or swaps two neighbours. A pattern may also match the text itself.
 * The engines' own fuzzy queries are not used, because they would also match a text with other digits. OpenSearch gets
 * a regular expression. Lucene gets an automaton, because the conversion of the regular expression into an automaton
 * would take milliseconds.
 */
public final class TypoPatterns {
    private static final String NO_DIGIT = "[^0-9]";

    /** The limit of Lucene's work to determinize an automaton, in Lucene's units. The longest text needs far less. */
    private static final int MAX_DETERMINIZE_WORK = 100_000;

    private TypoPatterns() {}

    static boolean isDigit(int character) {
        return character >= '0' && character <= '9';
    }

    static boolean hasDigits(String text) {
        return text.codePoints().anyMatch(TypoPatterns::isDigit);
    }

    /** Returns the pattern as a regular expression in the syntax common to Lucene and {@link java.util.regex}. */
    public static String regex(String text) {
        int[] characters = text.codePoints().toArray();
        StringBuilder regex = new StringBuilder();
        for (int i = 0; i < characters.length; i++) {
            regex.append("((");
            if (!isDigit(characters[i])) {
                // Alternative: the character is deleted or replaced.
                regex.append(NO_DIGIT).append('?');
                appendLiteral(regex, characters, i + 1, characters.length);
                regex.append('|');
            }
            // Alternative: a character is inserted before this character.
            regex.append(NO_DIGIT);
            appendLiteral(regex, characters, i, characters.length);
            if (i + 1 < characters.length && !(isDigit(characters[i]) && isDigit(characters[i + 1]))) {
                // Alternative: this character and the next are swapped.
                regex.append('|');
                appendLiteral(regex, characters, i + 1, i + 2);
                appendLiteral(regex, characters, i, i + 1);
                appendLiteral(regex, characters, i + 2, characters.length);
            }
            regex.append(")|");
            appendLiteral(regex, characters, i, i + 1);
        }
        // Alternative: a character is inserted at the end.
        regex.append(NO_DIGIT);
        regex.append(")".repeat(characters.length));
        return regex.toString();
    }

    /** Returns the pattern as a deterministic automaton over code points. */
    public static Automaton automaton(String text) {
        int[] characters = text.codePoints().toArray();
        int length = characters.length;
        Automaton.Builder builder = new Automaton.Builder();
        // The states after i characters of the text, before and after the edit.
        int[] unedited = new int[length + 1];
        int[] edited = new int[length + 1];
        for (int i = 0; i <= length; i++) {
            unedited[i] = builder.createState();
            edited[i] = builder.createState();
        }
        builder.setAccept(edited[length], true);
        for (int i = 0; i <= length; i++) {
            addNoDigitTransition(builder, unedited[i], edited[i]);
            if (i == length) {
                continue;
            }
            builder.addTransition(unedited[i], unedited[i + 1], characters[i]);
            builder.addTransition(edited[i], edited[i + 1], characters[i]);
            if (!isDigit(characters[i])) {
                addNoDigitTransition(builder, unedited[i], edited[i + 1]);
                if (i + 1 == length) {
                    builder.setAccept(unedited[i], true);
                } else {
                    builder.addTransition(unedited[i], edited[i + 2], characters[i + 1]);
                }
            }
            if (i + 1 < length && !(isDigit(characters[i]) && isDigit(characters[i + 1]))) {
                int swapped = builder.createState();
                builder.addTransition(unedited[i], swapped, characters[i + 1]);
                builder.addTransition(swapped, edited[i + 2], characters[i]);
            }
        }
        return Operations.determinize(builder.finish(), MAX_DETERMINIZE_WORK);
    }

    private static void addNoDigitTransition(Automaton.Builder builder, int from, int to) {
        builder.addTransition(from, to, Character.MIN_CODE_POINT, '0' - 1);
        builder.addTransition(from, to, '9' + 1, Character.MAX_CODE_POINT);
    }

    private static void appendLiteral(StringBuilder regex, int[] characters, int from, int to) {
        for (int i = from; i < to; i++) {
            if (!Character.isLetterOrDigit(characters[i])) {
                regex.append('\\');
            }
            regex.appendCodePoint(characters[i]);
        }
    }
}

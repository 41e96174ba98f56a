package dev.puri.search.words;

/**
 * What is one slip away and keeps its digits: a character less, more or another that is no digit, or two neighbours
 * swapped that are not both digits. As a regular expression that OpenSearch and Lucene read alike, because neither has
 * slips that spare some characters.
 */
final class Slips {
    private static final String ANY = "[^0-9]";

    private Slips() {}

    static boolean isDigit(int character) {
        return character >= '0' && character <= '9';
    }

    static boolean hasDigits(String text) {
        return text.codePoints().anyMatch(Slips::isDigit);
    }

    static String of(String text) {
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

    private static void append(StringBuilder all, int[] characters, int from, int to) {
        for (int i = from; i < to; i++) {
            if (!Character.isLetterOrDigit(characters[i])) {
                all.append('\\');
            }
            all.appendCodePoint(characters[i]);
        }
    }
}

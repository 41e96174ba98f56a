package dev.puri.settings;

/** Computes the edit distance of two texts, to suggest the known name that is nearest to an unknown name. */
final class EditDistance {
    private EditDistance() {}

    /** Counts the insertions, deletions, replacements and swaps of neighbours that turn one text into the other. */
    static int between(String from, String to) {
        int[][] distance = new int[from.length() + 1][to.length() + 1];
        for (int i = 0; i <= from.length(); i++) {
            for (int j = 0; j <= to.length(); j++) {
                if (i == 0 || j == 0) {
                    distance[i][j] = i + j;
                    continue;
                }
                int afterReplacing = distance[i - 1][j - 1] + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                distance[i][j] = Math.min(afterReplacing, Math.min(distance[i - 1][j], distance[i][j - 1]) + 1);
                boolean isSwap = i > 1
                        && j > 1
                        && from.charAt(i - 1) == to.charAt(j - 2)
                        && from.charAt(i - 2) == to.charAt(j - 1);
                if (isSwap) {
                    distance[i][j] = Math.min(distance[i][j], distance[i - 2][j - 2] + 1);
                }
            }
        }
        return distance[from.length()][to.length()];
    }
}

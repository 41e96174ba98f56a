package dev.puri.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Prints rows of text in aligned columns. */
final class TextTable {
    private final List<String> header;
    private final List<List<String>> rows = new ArrayList<>();

    TextTable(String... header) {
        this.header = List.of(header);
    }

    /**
     * Adds a row.
     *
     * @param cells as many cells as the header has; null and empty texts are printed as {@code -}
     */
    TextTable row(@Nullable Object... cells) {
        List<String> row = new ArrayList<>();
        for (Object cell : cells) {
            String text = cell == null ? "" : oneLine(cell.toString());
            row.add(text.isEmpty() ? "-" : text);
        }
        rows.add(row);
        return this;
    }

    private static String oneLine(String text) {
        return text.replaceAll("\\p{Cntrl}+", " ");
    }

    void print(PrintWriter out) {
        List<List<String>> lines = new ArrayList<>();
        lines.add(header);
        lines.addAll(rows);
        int[] widths = new int[header.size()];
        for (List<String> row : lines) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        for (List<String> row : lines) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < widths.length; i++) {
                line.append(row.get(i)).append(" ".repeat(widths[i] - row.get(i).length() + 2));
            }
            out.println(line.toString().stripTrailing());
        }
        out.flush();
    }
}

package dev.puri.cli.imports;

import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A text with the names of columns in braces, such as {@code br-{shard_number}}. */
record Template(String text) {
    private static final Pattern COLUMN = Pattern.compile("\\{([^{}]*)}");

    /**
     * @throws IllegalArgumentException if the text is empty, or a brace does not enclose a column's name
     */
    Template {
        if (text.isBlank()) {
            throw new IllegalArgumentException("must not be empty");
        }
        String rest = COLUMN.matcher(text).replaceAll("");
        if (rest.indexOf('{') >= 0 || rest.indexOf('}') >= 0 || text.contains("{}")) {
            throw new IllegalArgumentException("braces enclose the name of a column, as in {id}; the text is " + text);
        }
    }

    /** Returns the names of the columns. */
    Set<String> columns() {
        Set<String> columns = new LinkedHashSet<>();
        Matcher matcher = COLUMN.matcher(text);
        while (matcher.find()) {
            columns.add(matcher.group(1));
        }
        return columns;
    }

    /** Returns the text with the values of a row; null if one of its columns is empty in the row. */
    @Nullable
    String expand(Map<String, String> row) {
        StringBuilder expanded = new StringBuilder();
        Matcher matcher = COLUMN.matcher(text);
        int copied = 0;
        while (matcher.find()) {
            String value = row.get(matcher.group(1));
            if (value == null) {
                return null;
            }
            expanded.append(text, copied, matcher.start()).append(value);
            copied = matcher.end();
        }
        return expanded.append(text, copied, text.length()).toString();
    }

    /** Returns the names of the columns that are empty in a row. */
    String emptyColumns(Map<String, String> row) {
        return String.join(
                ", ",
                columns().stream().filter(column -> !row.containsKey(column)).toList());
    }
}

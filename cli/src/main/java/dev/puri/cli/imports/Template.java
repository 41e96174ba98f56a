package dev.puri.cli.imports;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A text with the names of columns in braces, such as {@code br-{shard_number}}. */
final class Template {
    private static final Pattern COLUMN = Pattern.compile("\\{([^{}]*)}");

    private final String text;

    /** Literal texts and names of columns in turn, beginning and ending with a literal text, which may be empty. */
    private final List<String> parts = new ArrayList<>();

    /**
     * @throws IllegalArgumentException if the text is empty, or a brace does not enclose a column's name
     */
    Template(String text) {
        if (text.isBlank()) {
            throw new IllegalArgumentException("must not be empty");
        }
        this.text = text;
        Matcher matcher = COLUMN.matcher(text);
        int end = 0;
        while (matcher.find()) {
            parts.add(text.substring(end, matcher.start()));
            parts.add(matcher.group(1));
            end = matcher.end();
        }
        parts.add(text.substring(end));
        for (int i = 0; i < parts.size(); i++) {
            String part = parts.get(i);
            boolean isColumn = i % 2 == 1;
            if (isColumn ? part.isEmpty() : part.indexOf('{') >= 0 || part.indexOf('}') >= 0) {
                throw new IllegalArgumentException(
                        "braces enclose the name of a column, as in {id}; the text is " + text);
            }
        }
    }

    String text() {
        return text;
    }

    /** Returns the names of the columns. */
    Set<String> columns() {
        Set<String> columns = new LinkedHashSet<>();
        for (int i = 1; i < parts.size(); i += 2) {
            columns.add(parts.get(i));
        }
        return columns;
    }

    /** Returns whether the whole text is the name of one column in braces. */
    boolean isOneColumn() {
        return parts.size() == 3 && parts.get(0).isEmpty() && parts.get(2).isEmpty();
    }

    /** Returns the text with the values of a row; null if one of its columns is empty in the row. */
    @Nullable
    String expand(Map<String, String> row) {
        if (parts.size() == 1) {
            return text;
        }
        if (isOneColumn()) {
            return row.get(parts.get(1));
        }
        StringBuilder expanded = new StringBuilder(parts.get(0));
        for (int i = 1; i < parts.size(); i += 2) {
            String value = row.get(parts.get(i));
            if (value == null) {
                return null;
            }
            expanded.append(value).append(parts.get(i + 1));
        }
        return expanded.toString();
    }

    /** Returns the names of the columns that are empty in a row. */
    String emptyColumns(Map<String, String> row) {
        return String.join(
                ", ",
                columns().stream().filter(column -> !row.containsKey(column)).toList());
    }

    @Override
    public String toString() {
        return text;
    }
}

package dev.puri.cli.imports;

import dev.puri.schemas.identity.Puri;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The template of a pURI: either three templates separated by colons, whose values are percent-encoded where necessary,
 * or one column that contains whole pURIs.
 */
record PuriTemplate(List<Template> segments) {
    /** The name of a column may contain colons. */
    private static final String COLON_OUTSIDE_BRACES = ":(?![^{}]*})";

    /**
     * @throws IllegalArgumentException if the text has neither form
     */
    static PuriTemplate parse(String text) {
        List<Template> segments = Stream.of(text.split(COLON_OUTSIDE_BRACES, -1))
                .map(Template::new)
                .toList();
        boolean isOneColumn = segments.size() == 1 && segments.getFirst().isOneColumn();
        if (segments.size() != 3 && !isOneColumn) {
            throw new IllegalArgumentException(
                    "must be namespace:collection:{column}, or {column} for a column of whole pURIs; it is " + text);
        }
        if (segments.stream().allMatch(segment -> segment.columns().isEmpty())) {
            throw new IllegalArgumentException("names no column, so all rows would be one object: " + text);
        }
        return new PuriTemplate(segments);
    }

    Set<String> columns() {
        Set<String> columns = new LinkedHashSet<>();
        segments.forEach(segment -> columns.addAll(segment.columns()));
        return columns;
    }

    /** Returns {@code namespace:collection} if it is the same for all rows and valid; otherwise null. */
    @Nullable
    String collection() {
        boolean isConstant = segments.size() == 3
                && segments.get(0).columns().isEmpty()
                && segments.get(1).columns().isEmpty();
        try {
            return isConstant
                    ? Puri.of(segments.get(0).text(), segments.get(1).text(), "any")
                            .qualifiedCollection()
                    : null;
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /**
     * Returns the pURI of a row.
     *
     * @throws IllegalArgumentException if a column is empty, or the text is not a valid pURI
     */
    Puri expand(Map<String, String> row) {
        return segments.size() == 1 ? Puri.parse(value(0, row)) : Puri.of(value(0, row), value(1, row), value(2, row));
    }

    private String value(int segment, Map<String, String> row) {
        String value = segments.get(segment).expand(row);
        if (value == null) {
            throw new IllegalArgumentException(
                    "the column " + segments.get(segment).emptyColumns(row) + " is empty");
        }
        return value;
    }
}

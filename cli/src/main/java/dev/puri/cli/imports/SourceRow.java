package dev.puri.cli.imports;

import java.util.Map;
import java.util.Set;

/** A row as an input has it. */
sealed interface SourceRow {
    /**
     * A row with values.
     *
     * @param texts the values that are not empty, by column
     * @param structured the columns whose value is an array or an object, which is no text
     * @param fractional the columns whose value is a number of JSON or of a database with a fraction or an exponent,
     *     which is no name
     */
    record Values(Map<String, String> texts, Set<String> structured, Set<String> fractional) implements SourceRow {
        Values(Map<String, String> texts) {
            this(texts, Set.of(), Set.of());
        }
    }

    /** A row of an export whose pURI has another row with a later state in the same export. */
    record Superseded() implements SourceRow {}
}

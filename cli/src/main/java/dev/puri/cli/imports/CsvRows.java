package dev.puri.cli.imports;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.dataformat.csv.CsvMapper;
import com.fasterxml.jackson.dataformat.csv.CsvParser;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The rows of a CSV file. A row has no value for a column whose field is empty. */
final class CsvRows implements RowSource {
    private final MappingIterator<String[]> lines;
    private final String[] columns;

    CsvRows(Path file) throws IOException {
        lines = new CsvMapper()
                .enable(CsvParser.Feature.WRAP_AS_ARRAY)
                .enable(CsvParser.Feature.SKIP_EMPTY_LINES)
                .readerFor(String[].class)
                .readValues(file.toFile());
        if (!lines.hasNextValue()) {
            lines.close();
            throw new IOException("the file is empty; its first line must have the names of the columns");
        }
        columns = lines.nextValue();
        if (columns[0].startsWith("\uFEFF")) {
            columns[0] = columns[0].substring(1);
        }
        if (new HashSet<>(Arrays.asList(columns)).size() < columns.length) {
            lines.close();
            throw new IOException("two columns have the same name: " + String.join(", ", columns));
        }
    }

    @Override
    public Set<String> columns() {
        return new LinkedHashSet<>(Arrays.asList(columns));
    }

    @Override
    public @Nullable SourceRow next() throws IOException {
        if (!lines.hasNextValue()) {
            return null;
        }
        String[] values = lines.nextValue();
        if (values.length != columns.length) {
            throw new IOException("line " + lastLine() + " has " + values.length + " fields, but there are "
                    + columns.length + " columns");
        }
        Map<String, String> row = new HashMap<>();
        for (int i = 0; i < values.length; i++) {
            if (!values[i].isEmpty()) {
                row.put(columns[i], values[i]);
            }
        }
        return new SourceRow.Values(row);
    }

    /** Returns the number of the last line of the row that was read last. */
    private int lastLine() {
        JsonLocation location = lines.getCurrentLocation();
        // The parser has read the line end, except at the end of a file without a final line end.
        return location.getColumnNr() <= 1 ? location.getLineNr() - 1 : location.getLineNr();
    }

    @Override
    public void close() throws IOException {
        lines.close();
    }
}

package dev.puri.cli.verify;

import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.Row;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Converts rows and documents to maps of texts by the name of the field in the HTTP API, for comparisons and reports. A
 * field without a value is absent.
 */
final class RowFields {
    /** The field with the position of the last event that changed a row. */
    static final String POSITION = "position";

    static final String CHANGED_AT = "changedAt";

    private RowFields() {}

    /** Returns the fields of a row that every copy of the rows stores: all fields except the position. */
    static Map<String, String> of(Row row) {
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("uuid", row.uuid().toString());
        fields.put("owner", row.owner().text());
        fields.put("shard", row.shard().text());
        put(fields, "handle", row.handle());
        fields.put("status", row.status().toString());
        fields.put("epoch", Long.toString(row.epoch()));
        fields.put("createdAt", row.createdAt().toString());
        fields.put(CHANGED_AT, row.changedAt().toString());
        put(fields, "mergedInto", row.mergedInto());
        return fields;
    }

    /** Returns the fields of a row, and the position of the last event that changed it. */
    static Map<String, String> withPosition(Row row) {
        Map<String, String> fields = of(row);
        fields.put(POSITION, row.position().toString());
        return fields;
    }

    /** Returns the fields of a document except its position. */
    static Map<String, String> of(Document document) {
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("owner", document.owner().text());
        fields.put("shard", document.shard().text());
        put(fields, "handle", document.handle());
        fields.put("status", document.status().toString());
        put(fields, "mergedInto", document.mergedInto());
        fields.put("attributes", canonicalText(document.attributes()));
        return fields;
    }

    /** Returns the fields that the document of a row must have, except its attributes. */
    static Map<String, String> expectedOfDocument(Row row) {
        Map<String, String> fields = of(row);
        fields.keySet().removeAll(List.of("uuid", "epoch", "createdAt", CHANGED_AT));
        return fields;
    }

    /** Returns attributes as a text, sorted by name. */
    static String canonicalText(Map<String, String> attributes) {
        return new TreeMap<>(attributes).toString();
    }

    private static void put(Map<String, String> fields, String name, @Nullable Object value) {
        if (value != null) {
            fields.put(name, value.toString());
        }
    }
}

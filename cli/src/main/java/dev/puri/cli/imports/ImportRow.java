package dev.puri.cli.imports;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A planned row: the identity of one row of an input, as it is written to the file of rows.
 *
 * @param input index of the input in the mapping file
 * @param row number of the row in the input, from 1
 * @param existing whether the registry had the identity when the plan was made
 * @param end null for an active identity
 * @param createdAt time of creation in an export; null for the time of the plan
 */
record ImportRow(
        int input,
        long row,
        Puri puri,
        UUID uuid,
        Owner owner,
        Shard shard,
        @Nullable Handle handle,
        Map<String, String> attributes,
        boolean existing,
        @Nullable End end,
        @Nullable Instant createdAt) {
    /** Initial size of the buffer of a line. */
    private static final int TYPICAL_LINE_BYTES = 256;

    /**
     * How an exported identity ended.
     *
     * @param mergedInto the pURI it was merged into; null if it was deleted
     */
    record End(Instant at, @Nullable Puri mergedInto) {}

    static ImportRow of(
            int input,
            long row,
            Puri puri,
            UUID uuid,
            Owner owner,
            Shard shard,
            @Nullable Handle handle,
            Map<String, String> attributes) {
        return new ImportRow(input, row, puri, uuid, owner, shard, handle, attributes, false, null, null);
    }

    /** Returns {@code namespace:collection}. */
    String collection() {
        return puri.qualifiedCollection();
    }

    ImportRow asExisting() {
        return new ImportRow(input, row, puri, uuid, owner, shard, handle, attributes, true, end, createdAt);
    }

    /**
     * Adds the status and the times of an exported row.
     *
     * @throws IllegalArgumentException if a value is missing or invalid
     */
    ImportRow withState(Map<String, String> exported) {
        String status = value(exported, "status");
        End newEnd = switch (status) {
            case "active" -> null;
            case "merged" -> new End(time(exported, "changedAt"), Puri.parse(value(exported, "mergedInto")));
            case "deleted" -> new End(time(exported, "changedAt"), null);
            default -> throw new IllegalArgumentException("the status " + status + " is unknown");
        };
        return new ImportRow(
                input,
                row,
                puri,
                uuid,
                owner,
                shard,
                handle,
                attributes,
                existing,
                newEnd,
                time(exported, "createdAt"));
    }

    private static Instant time(Map<String, String> exported, String column) {
        try {
            return Instant.parse(value(exported, column));
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException(column + ": " + e.getMessage(), e);
        }
    }

    private static String value(Map<String, String> exported, String column) {
        String value = exported.get(column);
        if (value == null) {
            throw new IllegalArgumentException("the column " + column + " is empty");
        }
        return value;
    }

    /** Returns the change that creates the identity. */
    Change.Created created() {
        return new Change.Created(uuid, owner, shard, handle, attributes);
    }

    /**
     * Returns the events that create the identity and, if it ended, end it. They are the same events in each run,
     * except for the time of the plan.
     */
    List<Event> events(String source, Instant plannedAt) {
        Event created = new Event(
                NameBasedIds.eventId(puri, uuid),
                puri,
                createdAt == null ? plannedAt : createdAt,
                source,
                null,
                null,
                created());
        if (end == null) {
            return List.of(created);
        }
        // The guard: if the creation is refused, this event must not end the identity that has the name.
        Event ended = new Event(
                NameBasedIds.endEventId(puri, uuid),
                puri,
                end.at(),
                source,
                uuid,
                null,
                end.mergedInto() == null ? new Change.Deleted() : new Change.Merged(end.mergedInto()));
        return List.of(created, ended);
    }

    /** Returns rows as lines of JSON. */
    static byte[] toLines(List<ImportRow> rows) {
        ByteArrayOutputStream lines = new ByteArrayOutputStream(TYPICAL_LINE_BYTES * rows.size());
        try (JsonGenerator json = ImportFolder.JSON.createGenerator(lines)) {
            json.setRootValueSeparator(null);
            for (ImportRow row : rows) {
                row.write(json);
                json.writeRaw('\n');
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return lines.toByteArray();
    }

    /** Writes a JSON object without the fields that are empty. */
    private void write(JsonGenerator json) throws IOException {
        json.writeStartObject();
        json.writeNumberField("input", input);
        json.writeNumberField("row", row);
        writeUnescaped(json, "puri", puri.toBytes());
        writeUnescaped(json, "uuid", bytes(uuid.toString()));
        writeUnescaped(json, "owner", bytes(owner.text()));
        writeUnescaped(json, "shard", bytes(shard.text()));
        if (handle != null) {
            writeUnescaped(json, "handle", bytes(handle.text()));
        }
        if (!attributes.isEmpty()) {
            json.writeObjectFieldStart("attributes");
            for (Map.Entry<String, String> attribute : attributes.entrySet()) {
                json.writeStringField(attribute.getKey(), attribute.getValue());
            }
            json.writeEndObject();
        }
        if (existing) {
            json.writeBooleanField("present", true);
        }
        if (createdAt != null) {
            json.writeStringField("createdAt", createdAt.toString());
        }
        if (end != null) {
            json.writeStringField("endedAt", end.at().toString());
            if (end.mergedInto() != null) {
                json.writeStringField("mergedInto", end.mergedInto().toString());
            }
        }
        json.writeEndObject();
    }

    /** Writes a text that has no characters to escape; looking for them in each row would take longer than writing. */
    private static void writeUnescaped(JsonGenerator json, String field, byte[] ascii) throws IOException {
        json.writeFieldName(field);
        json.writeRawUTF8String(ascii, 0, ascii.length);
    }

    private static byte[] bytes(String ascii) {
        return ascii.getBytes(StandardCharsets.ISO_8859_1);
    }

    /**
     * Reads the JSON object that begins at the parser's current token.
     *
     * @throws IOException if it is not a row
     */
    static ImportRow read(JsonParser json) throws IOException {
        try {
            return readFields(json);
        } catch (IllegalArgumentException | DateTimeParseException e) {
            throw new JsonParseException(json, "not a planned row: " + e.getMessage(), e);
        }
    }

    private static ImportRow readFields(JsonParser json) throws IOException {
        int input = 0;
        long row = 0;
        Puri puri = null;
        UUID uuid = null;
        Owner owner = null;
        Shard shard = null;
        Handle handle = null;
        Map<String, String> attributes = Map.of();
        boolean existing = false;
        Instant createdAt = null;
        Instant endedAt = null;
        Puri mergedInto = null;
        for (String field = json.nextFieldName(); field != null; field = json.nextFieldName()) {
            json.nextToken();
            switch (field) {
                case "input" -> input = json.getIntValue();
                case "row" -> row = json.getLongValue();
                case "puri" -> puri = Puri.parse(text(json));
                case "uuid" -> uuid = UUID.fromString(text(json));
                case "owner" -> owner = new Owner(text(json));
                case "shard" -> shard = new Shard(text(json));
                case "handle" -> handle = new Handle(text(json));
                case "present" -> existing = json.getBooleanValue();
                case "createdAt" -> createdAt = Instant.parse(text(json));
                case "endedAt" -> endedAt = Instant.parse(text(json));
                case "mergedInto" -> mergedInto = Puri.parse(text(json));
                case "attributes" -> attributes = readAttributes(json);
                default -> throw new JsonParseException(json, "not a planned row: " + field + " is unknown");
            }
        }
        if (puri == null || uuid == null || owner == null || shard == null) {
            throw new JsonParseException(json, "not a planned row: puri, uuid, owner or shard is missing");
        }
        return new ImportRow(
                input,
                row,
                puri,
                uuid,
                owner,
                shard,
                handle,
                attributes,
                existing,
                endedAt == null ? null : new End(endedAt, mergedInto),
                createdAt);
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // An array cannot have a generic type.
    private static Map<String, String> readAttributes(JsonParser json) throws IOException {
        List<Map.Entry<String, String>> attributes = new ArrayList<>();
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            json.nextToken();
            attributes.add(Map.entry(name, text(json)));
        }
        // Unmodifiable, so that the event need not copy it.
        return Map.ofEntries(attributes.toArray(new Map.Entry[0]));
    }

    private static String text(JsonParser json) throws IOException {
        if (json.currentToken() != JsonToken.VALUE_STRING) {
            throw new JsonParseException(json, "not a planned row");
        }
        return json.getText();
    }
}

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
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A planned row: the identity of one row of an input, as it is written to the file of rows.
 *
 * @param input index of the input in the mapping file
 * @param row number of the row in the input, from 1
 * @param present whether the registry had the identity when the plan was made
 * @param end null for an active identity
 * @param createdAt time of creation in an export, ISO 8601; null for the time of the plan
 */
record ImportRow(
        int input,
        long row,
        String puri,
        UUID uuid,
        String owner,
        String shard,
        @Nullable String handle,
        Map<String, String> attributes,
        boolean present,
        @Nullable End end,
        @Nullable String createdAt) {
    /** Initial size of the buffer of a line. */
    private static final int TYPICAL_LINE_BYTES = 256;

    /**
     * How an exported identity ended.
     *
     * @param at ISO 8601
     * @param mergedInto the pURI it was merged into; null if it was deleted
     */
    record End(String at, @Nullable String mergedInto) {}

    static ImportRow of(
            int input,
            long row,
            Puri puri,
            UUID uuid,
            Owner owner,
            Shard shard,
            @Nullable Handle handle,
            Map<String, String> attributes) {
        return new ImportRow(
                input,
                row,
                puri.toString(),
                uuid,
                owner.text(),
                shard.text(),
                handle == null ? null : handle.text(),
                attributes,
                false,
                null,
                null);
    }

    /** Returns {@code namespace:collection}. */
    String collection() {
        return puri.substring(0, puri.lastIndexOf(':'));
    }

    ImportRow asPresent() {
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
            case "merged" ->
                new End(
                        time(exported, "changedAt"),
                        Puri.parse(value(exported, "mergedInto")).toString());
            case "deleted" -> new End(time(exported, "changedAt"), null);
            default -> throw new IllegalArgumentException("the status " + status + " is unknown");
        };
        return new ImportRow(
                input, row, puri, uuid, owner, shard, handle, attributes, present, newEnd, time(exported, "createdAt"));
    }

    private static String time(Map<String, String> exported, String column) {
        try {
            return Instant.parse(value(exported, column)).toString();
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
        return new Change.Created(
                uuid, new Owner(owner), new Shard(shard), handle == null ? null : new Handle(handle), attributes);
    }

    /**
     * Returns the events that create the identity and, if it ended, end it. They are the same events in each run, except
     * for the time of the plan.
     */
    List<Event> events(String source, Instant plannedAt) {
        Puri name = Puri.parse(puri);
        Event created = new Event(
                NameBasedIds.eventId(name, uuid),
                name,
                createdAt == null ? plannedAt : Instant.parse(createdAt),
                source,
                null,
                null,
                created());
        if (end == null) {
            return List.of(created);
        }
        // The guard: if the creation is refused, this event must not end the identity that has the name.
        Event ended = new Event(
                NameBasedIds.endEventId(name, uuid),
                name,
                Instant.parse(end.at()),
                source,
                uuid,
                null,
                end.mergedInto() == null ? new Change.Deleted() : new Change.Merged(Puri.parse(end.mergedInto())));
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
        json.writeStringField("puri", puri);
        json.writeStringField("uuid", uuid.toString());
        json.writeStringField("owner", owner);
        json.writeStringField("shard", shard);
        if (handle != null) {
            json.writeStringField("handle", handle);
        }
        if (!attributes.isEmpty()) {
            json.writeObjectFieldStart("attributes");
            for (Map.Entry<String, String> attribute : attributes.entrySet()) {
                json.writeStringField(attribute.getKey(), attribute.getValue());
            }
            json.writeEndObject();
        }
        if (present) {
            json.writeBooleanField("present", true);
        }
        if (createdAt != null) {
            json.writeStringField("createdAt", createdAt);
        }
        if (end != null) {
            json.writeStringField("endedAt", end.at());
            if (end.mergedInto() != null) {
                json.writeStringField("mergedInto", end.mergedInto());
            }
        }
        json.writeEndObject();
    }

    /**
     * Reads the object at whose start a parser is.
     *
     * @throws IOException if it is not a row
     */
    static ImportRow read(JsonParser json) throws IOException {
        int input = 0;
        long row = 0;
        String puri = null;
        String uuid = null;
        String owner = null;
        String shard = null;
        String handle = null;
        Map<String, String> attributes = Map.of();
        boolean present = false;
        String createdAt = null;
        String endedAt = null;
        String mergedInto = null;
        for (String field = json.nextFieldName(); field != null; field = json.nextFieldName()) {
            json.nextToken();
            switch (field) {
                case "input" -> input = json.getIntValue();
                case "row" -> row = json.getLongValue();
                case "puri" -> puri = text(json);
                case "uuid" -> uuid = text(json);
                case "owner" -> owner = text(json);
                case "shard" -> shard = text(json);
                case "handle" -> handle = text(json);
                case "present" -> present = json.getBooleanValue();
                case "createdAt" -> createdAt = text(json);
                case "endedAt" -> endedAt = text(json);
                case "mergedInto" -> mergedInto = text(json);
                case "attributes" -> {
                    attributes = new LinkedHashMap<>();
                    for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
                        attributes.put(name, json.nextTextValue());
                    }
                }
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
                UUID.fromString(uuid),
                owner,
                shard,
                handle,
                attributes,
                present,
                endedAt == null ? null : new End(endedAt, mergedInto),
                createdAt);
    }

    private static String text(JsonParser json) throws IOException {
        if (json.currentToken() != JsonToken.VALUE_STRING) {
            throw new JsonParseException(json, "not a planned row");
        }
        return json.getText();
    }
}

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
import java.util.HashMap;
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
        boolean present) {
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
                false);
    }

    ImportRow asPresent() {
        return new ImportRow(input, row, puri, uuid, owner, shard, handle, attributes, true);
    }

    /** Returns the event that creates the identity. It has the same id in each run. */
    Event event(String source, Instant plannedAt) {
        Puri name = Puri.parse(puri);
        return new Event(NameBasedIds.eventId(name, uuid), name, plannedAt, source, null, null, change());
    }

    /**
     * Returns the change of the event.
     *
     * @throws IllegalArgumentException if the uuid is not one of RFC 9562
     */
    Change.Created change() {
        return new Change.Created(
                uuid, new Owner(owner), new Shard(shard), handle == null ? null : new Handle(handle), attributes);
    }

    /** Returns rows as lines of JSON. */
    static byte[] toLines(List<ImportRow> rows) {
        ByteArrayOutputStream lines = new ByteArrayOutputStream();
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
        boolean present = false;
        Map<String, String> texts = new HashMap<>();
        Map<String, String> attributes = Map.of();
        for (String field = json.nextFieldName(); field != null; field = json.nextFieldName()) {
            JsonToken value = json.nextToken();
            switch (field) {
                case "input" -> input = json.getIntValue();
                case "row" -> row = json.getLongValue();
                case "present" -> present = json.getBooleanValue();
                case "attributes" -> {
                    attributes = new LinkedHashMap<>();
                    for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
                        attributes.put(name, json.nextTextValue());
                    }
                }
                default -> {
                    if (value != JsonToken.VALUE_STRING) {
                        throw new JsonParseException(json, "not a planned row");
                    }
                    texts.put(field, json.getText());
                }
            }
        }
        return new ImportRow(
                input,
                row,
                required(json, texts, "puri"),
                UUID.fromString(required(json, texts, "uuid")),
                required(json, texts, "owner"),
                required(json, texts, "shard"),
                texts.get("handle"),
                attributes,
                present);
    }

    private static String required(JsonParser json, Map<String, String> texts, String field) throws IOException {
        String text = texts.get(field);
        if (text == null) {
            throw new JsonParseException(json, "not a planned row: " + field + " is missing");
        }
        return text;
    }
}

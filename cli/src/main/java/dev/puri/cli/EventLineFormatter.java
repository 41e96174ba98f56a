package dev.puri.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Formats an event as a line that {@link EventLineParser} parses to the same event. */
final class EventLineFormatter {
    private static final JsonFactory JSON = JsonFactory.builder().build();

    private EventLineFormatter() {}

    /** Returns the line without a line terminator. */
    static String format(Event event) {
        StringWriter line = new StringWriter(256);
        try (JsonGenerator json = JSON.createGenerator(line)) {
            json.writeStartObject();
            json.writeStringField("type", type(event.change()));
            json.writeStringField("puri", event.puri().toString());
            writeChange(json, event.change());
            if (event.uuid() != null) {
                json.writeStringField("uuid", event.uuid().toString());
            }
            if (event.expectedEpoch() != null) {
                json.writeNumberField("expectedEpoch", event.expectedEpoch());
            }
            json.writeStringField("eventId", event.eventId().toString());
            json.writeStringField("source", event.source());
            json.writeStringField("occurredAt", event.occurredAt().toString());
            json.writeEndObject();
        } catch (IOException e) {
            // Writing to memory cannot fail.
            throw new UncheckedIOException(e);
        }
        return line.toString();
    }

    private static String type(Change change) {
        return switch (change) {
            case Change.Created created -> "created";
            case Change.Moved moved -> "moved";
            case Change.Described described -> "described";
            case Change.Merged merged -> "merged";
            case Change.Deleted deleted -> "deleted";
            case Change.Erased erased -> "erased";
        };
    }

    private static void writeChange(JsonGenerator json, Change change) throws IOException {
        switch (change) {
            case Change.Created created -> {
                json.writeStringField("owner", created.owner().text());
                json.writeStringField("shard", created.shard().text());
                json.writeStringField("uuid", created.uuid().toString());
                writeOrNull(json, "handle", created.handle());
                writeAttributes(json, created.attributes());
            }
            case Change.Moved moved -> {
                if (moved.owner() != null) {
                    json.writeStringField("owner", moved.owner().text());
                }
                json.writeStringField("shard", moved.shard().text());
            }
            case Change.Described described -> writeAttributes(json, described.attributes());
            case Change.Merged merged ->
                json.writeStringField("into", merged.into().toString());
            case Change.Deleted deleted -> {}
            case Change.Erased erased -> {}
        }
    }

    private static void writeOrNull(JsonGenerator json, String name, @Nullable Object value) throws IOException {
        if (value == null) {
            json.writeNullField(name);
        } else {
            json.writeStringField(name, value.toString());
        }
    }

    private static void writeAttributes(JsonGenerator json, Map<String, String> attributes) throws IOException {
        json.writeObjectFieldStart("attributes");
        for (Map.Entry<String, String> attribute : attributes.entrySet()) {
            json.writeStringField(attribute.getKey(), attribute.getValue());
        }
        json.writeEndObject();
    }
}

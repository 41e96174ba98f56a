package dev.puri.resolver.live;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.puri.http.JsonBody;
import dev.puri.http.Timestamp;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.Locale;

/**
 * Writes the data of server-sent events as JSON, each in one line. The data of {@code changed} has the whole row, so a
 * client may apply it twice.
 */
final class ChangeJson {
    private static final JsonFactory JSON = JsonFactory.builder().build();

    private ChangeJson() {}

    static String changed(Puri puri, Row row) {
        return object(json -> {
            json.writeStringField("puri", puri.toString());
            if (row.mergedInto() != null) {
                json.writeStringField("mergedInto", row.mergedInto().toString());
            }
            if (row.handle() != null) {
                json.writeStringField("handle", row.handle().text());
            }
            json.writeStringField("owner", row.owner().text());
            json.writeStringField("shard", row.shard().text());
            json.writeStringField("uuid", row.uuid().toString());
            json.writeStringField("status", row.status().name().toLowerCase(Locale.ROOT));
            json.writeNumberField("epoch", row.epoch());
            json.writeStringField("createdAt", Timestamp.text(row.createdAt()));
            json.writeStringField("changedAt", Timestamp.text(row.changedAt()));
            json.writeStringField("position", row.position().toString());
        });
    }

    static String erased(Puri puri) {
        return object(json -> json.writeStringField("puri", puri.toString()));
    }

    /** Returns the data of an event that ends or resets a stream. */
    static String reason(String reason) {
        return object(json -> json.writeStringField("reason", reason));
    }

    /** Returns an object with these members. */
    private static String object(JsonBody members) {
        StringWriter text = new StringWriter(384);
        try (JsonGenerator json = JSON.createGenerator(text)) {
            json.writeStartObject();
            members.writeTo(json);
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString();
    }
}

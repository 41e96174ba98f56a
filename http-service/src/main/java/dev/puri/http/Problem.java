package dev.puri.http;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * An error as an answer: {@code application/problem+json} (RFC 9457).
 *
 * @param detail what, where and why in this case, for a person
 * @param instance a URI of this one occurrence; null where it has none
 * @param extensions further members: strings, numbers, booleans, and lists of these
 */
public record Problem(
        ProblemType type, String detail, @Nullable String instance, Map<String, Object> extensions) {
    static final String MEDIA_TYPE = "application/problem+json";

    public Problem {
        extensions = Map.copyOf(extensions);
    }

    public static Problem of(ProblemType type, String detail) {
        return new Problem(type, detail, null, Map.of());
    }

    /** The same problem with one more member. */
    public Problem with(String member, Object value) {
        Map<String, Object> more = new TreeMap<>(extensions);
        more.put(member, value);
        return new Problem(type, detail, instance, more);
    }

    void writeTo(JsonGenerator json) throws IOException {
        json.writeStartObject();
        json.writeStringField("type", type.uri());
        json.writeStringField("title", type.title());
        json.writeNumberField("status", type.status());
        json.writeStringField("detail", detail);
        if (instance != null) {
            json.writeStringField("instance", instance);
        }
        for (Map.Entry<String, Object> extension : new TreeMap<>(extensions).entrySet()) {
            json.writeFieldName(extension.getKey());
            JsonBody.writeValue(json, extension.getValue());
        }
        json.writeEndObject();
    }
}

package dev.puri.http;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.Map;

/** Writes the JSON body of a response. */
@FunctionalInterface
public interface JsonBody {
    /**
     * Writes the body.
     *
     * @throws IOException if the generator throws it; it writes to memory, so this does not happen
     */
    void writeTo(JsonGenerator json) throws IOException;

    /** Encodes a body as UTF-8, with a line break at the end. */
    static byte[] bytes(JsonBody body) {
        return JsonBuffer.of(body).getBytes();
    }

    /**
     * Writes a value that consists of strings, numbers, booleans, lists and maps.
     *
     * @throws IOException if the generator throws it
     * @throws IllegalStateException if the value contains another type
     */
    static void writeValue(JsonGenerator json, Object value) throws IOException {
        switch (value) {
            case String text -> json.writeString(text);
            case Integer number -> json.writeNumber(number);
            case Long number -> json.writeNumber(number);
            case Double number -> json.writeNumber(number);
            case Boolean truth -> json.writeBoolean(truth);
            case Iterable<?> items -> {
                json.writeStartArray();
                for (Object item : items) {
                    writeValue(json, item);
                }
                json.writeEndArray();
            }
            case Map<?, ?> members -> {
                json.writeStartObject();
                for (Map.Entry<?, ?> member : members.entrySet()) {
                    json.writeFieldName((String) member.getKey());
                    writeValue(json, member.getValue());
                }
                json.writeEndObject();
            }
            default ->
                throw new IllegalStateException("cannot write a value of this type as JSON: " + value.getClass());
        }
    }
}

package dev.puri.http;

import com.fasterxml.jackson.core.JsonGenerator;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * An error response: {@code application/problem+json} (RFC 9457).
 *
 * @param detail what is wrong in this case, for people
 * @param instance a URI of this occurrence; null if it has none
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

    /** Returns this problem with a further member. */
    public Problem with(String member, Object value) {
        Map<String, Object> more = new TreeMap<>(extensions);
        more.put(member, value);
        return new Problem(type, detail, instance, more);
    }

    /** Encodes the whole HTTP/1.1 response, for a connection that is closed without a request. */
    byte[] asHttp1() {
        byte[] body = JsonBody.bytes(this::writeTo);
        String head = "HTTP/1.1 " + type.status() + ' '
                + HttpResponseStatus.valueOf(type.status()).reasonPhrase()
                + "\r\nContent-Type: " + MEDIA_TYPE + "\r\nContent-Length: " + body.length
                + "\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n";
        ByteArrayOutputStream answer = new ByteArrayOutputStream();
        answer.writeBytes(head.getBytes(StandardCharsets.US_ASCII));
        answer.writeBytes(body);
        return answer.toByteArray();
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

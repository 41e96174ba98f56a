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
 * @param detail a human-readable explanation of what is wrong in this case
 * @param instance a URI of this occurrence of the problem; null for none
 * @param extensions extension members: strings, numbers, booleans, and lists of these
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

    /** Makes a sentence of a text: with a capital letter, unless the text begins with a pURI, and a full stop. */
    public static String sentence(String text) {
        boolean startsWithPuri = text.indexOf(':') >= 0 && text.indexOf(':') < (text + ' ').indexOf(' ');
        return (startsWithPuri ? text : Character.toUpperCase(text.charAt(0)) + text.substring(1)) + ".";
    }

    /** Returns a copy of this problem with one more extension member. */
    public Problem with(String member, Object value) {
        Map<String, Object> newExtensions = new TreeMap<>(extensions);
        newExtensions.put(member, value);
        return new Problem(type, detail, instance, newExtensions);
    }

    /** Encodes a whole HTTP/1.1 response, for a connection on which the server reads no request before it closes it. */
    byte[] asHttp1() {
        byte[] body = JsonBody.bytes(this::writeTo);
        String head = "HTTP/1.1 " + type.status() + ' '
                + HttpResponseStatus.valueOf(type.status()).reasonPhrase()
                + "\r\nContent-Type: " + MEDIA_TYPE + "\r\nContent-Length: " + body.length
                + "\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n";
        ByteArrayOutputStream response = new ByteArrayOutputStream();
        response.writeBytes(head.getBytes(StandardCharsets.US_ASCII));
        response.writeBytes(body);
        return response.toByteArray();
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

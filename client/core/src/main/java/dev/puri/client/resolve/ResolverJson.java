package dev.puri.client.resolve;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Writes requests to a resolver and parses its responses and change events. The OpenAPI description in {@code
 * resolver-api} describes the JSON. Unknown fields are ignored.
 */
final class ResolverJson {
    private static final ObjectMapper JSON = new ObjectMapper();

    private ResolverJson() {}

    /** Returns the body of a request for these references. */
    static byte[] encodeRequest(List<Ref> refs) {
        ObjectNode request = JSON.createObjectNode();
        ArrayNode array = request.putArray("refs");
        for (Ref ref : refs) {
            if (ref.token() == null) {
                array.add(ref.text());
            } else {
                array.addObject().put("ref", ref.text()).put("at", ref.token().toString());
            }
        }
        return request.toString().getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Parses the body of a response.
     *
     * @param refs the references of the request
     * @throws IllegalArgumentException if the body is malformed, or has results for other references
     */
    static List<Verdict> parseVerdicts(List<Ref> refs, String body) {
        JsonNode results = parse(body).path("results");
        if (!results.isArray() || results.size() != refs.size()) {
            throw new IllegalArgumentException("expected " + refs.size() + " results");
        }
        List<Verdict> verdicts = new ArrayList<>(refs.size());
        for (int i = 0; i < refs.size(); i++) {
            JsonNode result = results.get(i);
            Ref ref = refs.get(i);
            if (!required(result, "ref").equals(ref.text())) {
                throw new IllegalArgumentException("result " + i + " is for another reference");
            }
            verdicts.add(verdict(ref, result));
        }
        return verdicts;
    }

    /**
     * Parses JSON.
     *
     * @throws IllegalArgumentException if the text is not JSON
     */
    static JsonNode parse(String text) {
        try {
            JsonNode json = JSON.readTree(text);
            return json == null ? JSON.missingNode() : json;
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("not JSON: " + e.getOriginalMessage(), e);
        }
    }

    private static Verdict verdict(Ref ref, JsonNode result) {
        String verdict = required(result, "verdict");
        return switch (verdict) {
            case "found" -> found(result);
            case "merged" ->
                new Verdict.Merged(
                        Puri.parse(required(result, "puri")),
                        optional(result, "handle", Handle::parse),
                        optional(result, "canonical", Puri::parse),
                        placement(result),
                        result.path("epoch").asLong(),
                        time(result, "createdAt"),
                        time(result, "changedAt"),
                        optional(result, "detail", text -> text));
            case "deleted" ->
                new Verdict.Deleted(
                        Puri.parse(required(result, "puri")),
                        optional(result, "handle", Handle::parse),
                        optional(result, "canonical", Puri::parse),
                        result.path("epoch").asLong(),
                        time(result, "createdAt"),
                        time(result, "changedAt"));
            case "unknown" -> new Verdict.Unknown(ref, result.path("importing").asBoolean());
            case "malformed" -> new Verdict.Malformed(ref, required(result, "detail"));
            case "not-caught-up" -> new Verdict.NotCaughtUp(ref);
            case "refused" ->
                new Verdict.Refused(
                        ref,
                        required(result, "reason"),
                        optional(result, "detail", text -> text),
                        optional(result.path("holder"), "owner", Owner::parse),
                        optional(result.path("holder"), "shard", Shard::parse),
                        optional(result, "survivor", Puri::parse));
            default -> throw new IllegalArgumentException("unsupported verdict \"" + verdict + '"');
        };
    }

    private static Verdict.Found found(JsonNode result) {
        Placement placement = placement(result);
        if (placement == null) {
            throw new IllegalArgumentException("a result with the verdict \"found\" has no shard");
        }
        return new Verdict.Found(
                Puri.parse(required(result, "puri")),
                optional(result, "handle", Handle::parse),
                placement,
                result.path("epoch").asLong(),
                time(result, "createdAt"),
                time(result, "changedAt"));
    }

    private static @Nullable Placement placement(JsonNode result) {
        return result.has("shard")
                ? new Placement(
                        Owner.parse(required(result, "owner")),
                        Shard.parse(required(result, "shard")),
                        UUID.fromString(required(result, "uuid")))
                : null;
    }

    private static Instant time(JsonNode result, String field) {
        try {
            return Instant.parse(required(result, field));
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException("the field " + field + " is not an ISO 8601 timestamp", e);
        }
    }

    /**
     * Returns the text of a field.
     *
     * @throws IllegalArgumentException if the field is missing or is not a string
     */
    static String required(JsonNode object, String field) {
        JsonNode value = object.path(field);
        if (!value.isTextual()) {
            throw new IllegalArgumentException("the field " + field + " is missing or is not a string");
        }
        return value.textValue();
    }

    private static <T> @Nullable T optional(JsonNode object, String field, Function<String, T> parse) {
        return object.path(field).isTextual() ? parse.apply(object.path(field).textValue()) : null;
    }
}

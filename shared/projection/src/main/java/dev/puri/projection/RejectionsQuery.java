package dev.puri.projection;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.puri.http.Timestamp;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Refusal.Holder;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of {@code GET /v1/rejections?puri=&position=&limit=}. Finds the matching refusals and writes the
 * response.
 *
 * @param puri selects the refusals of this pURI; null for all
 * @param position selects the refusal of the event at this position; null for all
 * @param limit the maximum number of refusals, the newest first; 1 to {@value #MAX_LIMIT}
 */
public record RejectionsQuery(@Nullable Puri puri, @Nullable Position position, int limit) {
    public static final int MAX_LIMIT = 1000;
    public static final int DEFAULT_LIMIT = 100;

    private static final int MAX_QUOTED = 100;

    public RejectionsQuery {
        if (limit < 1 || limit > MAX_LIMIT) {
            throw new IllegalArgumentException("the limit must be a number from 1 to " + MAX_LIMIT + ", not " + limit);
        }
    }

    /** A query parameter is invalid. The message says why. */
    public static final class InvalidParameterException extends IllegalArgumentException {
        private static final long serialVersionUID = 1L;

        private final String parameter;

        InvalidParameterException(String parameter, String message) {
            super(message);
            this.parameter = parameter;
        }

        /** Returns the parameter's name. */
        public String parameter() {
            return parameter;
        }
    }

    /**
     * Parses the query parameters. Pass null for a parameter that is missing.
     *
     * @throws InvalidParameterException if a parameter is invalid
     */
    public static RejectionsQuery parse(@Nullable String puri, @Nullable String position, @Nullable String limit) {
        return new RejectionsQuery(
                puri == null ? null : value("puri", puri, Puri::parse),
                position == null ? null : value("position", position, Position::parse),
                limit == null ? DEFAULT_LIMIT : limit(limit));
    }

    private static <T> T value(String parameter, String text, Function<String, T> parser) {
        try {
            return parser.apply(text);
        } catch (IllegalArgumentException e) {
            throw new InvalidParameterException(parameter, String.valueOf(e.getMessage()));
        }
    }

    private static int limit(String text) {
        boolean isNumber = !text.isEmpty() && text.length() <= 4 && text.chars().allMatch(c -> c >= '0' && c <= '9');
        int limit = isNumber ? Integer.parseInt(text) : 0;
        if (limit < 1 || limit > MAX_LIMIT) {
            String quoted = text.length() > MAX_QUOTED ? text.substring(0, MAX_QUOTED) + "…" : text;
            throw new InvalidParameterException(
                    "limit", "the limit must be a number from 1 to " + MAX_LIMIT + ", not \"" + quoted + '"');
        }
        return limit;
    }

    /** Returns the matching refusals, the newest first. */
    public List<RejectedEvent> find(RefusalLog log) {
        if (position != null) {
            return log.find(position).filter(event -> puri == null || Objects.equals(puri, event.puri())).stream()
                    .toList();
        }
        return puri == null ? log.latest(limit) : log.latestOf(puri, limit);
    }

    /**
     * Writes the whole response body.
     *
     * @param complete false while the follower has not caught up; refusals may then be missing
     * @throws IOException if the generator throws it
     */
    public static void write(JsonGenerator json, List<RejectedEvent> events, boolean complete) throws IOException {
        json.writeStartObject();
        json.writeArrayFieldStart("rejections");
        for (RejectedEvent event : events) {
            write(json, event);
        }
        json.writeEndArray();
        json.writeBooleanField("complete", complete);
        json.writeEndObject();
    }

    private static void write(JsonGenerator json, RejectedEvent event) throws IOException {
        json.writeStartObject();
        json.writeStringField("rejectedAt", Timestamp.text(event.rejectedAt()));
        json.writeStringField("position", event.position().toString());
        if (event.puri() != null) {
            json.writeStringField("puri", event.puri().toString());
        }
        if (event.eventId() != null) {
            json.writeStringField("eventId", event.eventId());
        }
        writeRefusalFields(json, event.reason(), event.detail(), event.holder(), event.survivor());
        json.writeEndObject();
    }

    /**
     * Writes reason, detail, holder and survivor into the open JSON object. Responses to requests with the event's
     * token have the same fields.
     *
     * @throws IOException if the generator throws it
     */
    public static void writeRefusalFields(
            JsonGenerator json, String reason, String detail, @Nullable Holder holder, @Nullable Puri survivor)
            throws IOException {
        json.writeStringField("reason", reason);
        json.writeStringField("detail", detail);
        if (holder != null) {
            json.writeObjectFieldStart("holder");
            json.writeStringField("owner", holder.owner().text());
            json.writeStringField("shard", holder.shard().text());
            json.writeEndObject();
        }
        if (survivor != null) {
            json.writeStringField("survivor", survivor.toString());
        }
    }
}

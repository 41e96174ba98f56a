package dev.puri.schemas.log;

import dev.puri.schemas.identity.Puri;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * A tombstone in {@code puri.rejections.v1}, which reports that the pURI has no row after an event. A server that
 * starts from a snapshot younger than the erasure does not read the erasure in the topic of identities. Therefore it is
 * also in this topic, which servers read completely at each start.
 *
 * @param puri the key of the record
 * @param position position of the event
 * @param isApplied whether this event erased the object; false if the object was erased before
 * @param at time when the registry decided the event, by the registry's clock
 */
public record Erasure(Puri puri, Position position, boolean isApplied, Instant at) {
    /** Header with {@link #at} in ms since the epoch, as decimal text. The timestamp of the record is the broker's. */
    public static final String TIME_HEADER = "time";

    /**
     * Reads the headers of a tombstone.
     *
     * @throws IllegalArgumentException if a header is missing or invalid
     */
    public static Erasure of(Puri puri, Headers headers) {
        return new Erasure(
                puri,
                Position.parse(text(headers, Position.HEADER)),
                Outcome.parse(text(headers, Outcome.HEADER)).kind() == Outcome.Kind.APPLIED,
                Instant.ofEpochMilli(Long.parseLong(text(headers, TIME_HEADER))));
    }

    private static String text(Headers headers, String name) {
        @Nullable Header header = headers.lastHeader(name);
        if (header == null || header.value() == null) {
            throw new IllegalArgumentException("an erasure must have the header " + name);
        }
        return new String(header.value(), StandardCharsets.UTF_8);
    }
}

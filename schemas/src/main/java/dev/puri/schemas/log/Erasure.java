package dev.puri.schemas.log;

import dev.puri.schemas.identity.Puri;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * A tombstone in {@code puri.rejections.v1}: after its event the pURI has no row. It is written to that topic because
 * servers read the topic again at every start, whereas their snapshot of the table may be younger than the erasure.
 *
 * @param puri the record's key
 * @param position position of the event
 * @param isApplied whether this event erased the object; false if the object was erased before
 * @param at when the registry decided the event, by its clock
 */
public record Erasure(Puri puri, Position position, boolean isApplied, Instant at) {
    /** Header with the time in ms since the epoch, in decimal. The record's own timestamp is the broker's. */
    public static final String TIME_HEADER = "time";

    /**
     * Reads a record's headers.
     *
     * @throws IllegalArgumentException if the registry did not write them
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
            throw new IllegalArgumentException("an erasure has the header " + name);
        }
        return new String(header.value(), StandardCharsets.UTF_8);
    }
}

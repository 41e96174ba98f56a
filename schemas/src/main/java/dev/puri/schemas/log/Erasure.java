package dev.puri.schemas.log;

import dev.puri.schemas.identity.Puri;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * A record of {@code puri.rejections.v1} without a value: its event left no row of the name. It is there because
 * servers read that topic again at every start, while a snapshot of theirs may be younger than the erasure.
 *
 * @param puri the record's key
 * @param position of the event
 * @param isApplied whether this event erased the object; false if it changed nothing about one that was gone before
 * @param at when the registry decided, by its clock
 */
public record Erasure(Puri puri, Position position, boolean isApplied, Instant at) {
    /** Milliseconds since 1970, as decimal digits. The record's timestamp is the broker's. */
    public static final String TIME_HEADER = "time";

    /**
     * Reads a record's headers.
     *
     * @throws IllegalArgumentException when they are not those that the registry writes
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

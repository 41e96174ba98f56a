package dev.puri.schemas.log;

import dev.puri.schemas.identity.Puri;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * An event that a service publishes: one change of one identity.
 *
 * @param eventId id of the event; a retry has the same id
 * @param occurredAt time by the producer's clock, truncated to milliseconds; not before {@link #EARLIEST}, and before
 *     {@link #LATEST}
 * @param source name of the producer, 1 to {@value #MAX_SOURCE_LENGTH} characters without control characters
 * @param uuid guard: the event is refused unless the row has this uuid; null for no guard
 * @param expectedEpoch guard: the event is refused unless the row has this epoch; null for no guard
 */
public record Event(
        UUID eventId,
        Puri puri,
        Instant occurredAt,
        String source,
        @Nullable UUID uuid,
        @Nullable Long expectedEpoch,
        Change change) {
    public static final Instant EARLIEST = Instant.parse("1970-01-01T00:00:00Z");
    public static final Instant LATEST = Instant.parse("2200-01-01T00:00:00Z");
    public static final int MAX_SOURCE_LENGTH = 255;

    /**
     * @throws IllegalArgumentException if a component is invalid; the message contains its name
     */
    public Event {
        Uuids.requireValid(eventId, "eventId");
        if (uuid != null) {
            Uuids.requireValid(uuid, "uuid");
        }
        if (occurredAt.isBefore(EARLIEST) || !occurredAt.isBefore(LATEST)) {
            throw new IllegalArgumentException(
                    "occurredAt " + occurredAt + " is before " + EARLIEST + " or not before " + LATEST);
        }
        occurredAt = Instant.ofEpochMilli(occurredAt.toEpochMilli());
        requireSource("source", source);
    }

    /**
     * Checks the name of a producer.
     *
     * @param field name of the field, for the message
     * @throws IllegalArgumentException if the name cannot be the {@link #source} of an event
     */
    public static void requireSource(String field, String source) {
        if (source.isEmpty() || source.length() > MAX_SOURCE_LENGTH || hasControlCharacter(source)) {
            throw new IllegalArgumentException(
                    field + " must have 1 to " + MAX_SOURCE_LENGTH + " characters without control characters");
        }
    }

    private static boolean hasControlCharacter(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isISOControl(text.charAt(i))) {
                return true;
            }
        }
        return false;
    }
}

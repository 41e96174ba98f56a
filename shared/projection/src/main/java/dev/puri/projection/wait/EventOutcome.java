package dev.puri.projection.wait;

import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * The position and the outcome of the event that caused a record of {@code puri.identities.v1}, from the record's
 * headers.
 *
 * @param position the position of the event
 * @param outcome the outcome of the event
 */
public record EventOutcome(Position position, Outcome outcome) {
    /**
     * Reads the headers of a record.
     *
     * @return null if a header is missing
     * @throws IllegalArgumentException if a header is malformed
     */
    public static @Nullable EventOutcome of(Headers headers) {
        String position = text(headers, Position.HEADER);
        String outcome = text(headers, Outcome.HEADER);
        return position == null || outcome == null
                ? null
                : new EventOutcome(Position.parse(position), Outcome.parse(outcome));
    }

    /** Returns the text of a header; null if it is missing. */
    public static @Nullable String text(Headers headers, String name) {
        Header header = headers.lastHeader(name);
        return header == null || header.value() == null ? null : new String(header.value(), StandardCharsets.UTF_8);
    }

    /**
     * Returns the row as readers store it: normally with the position of this event, so that a wait for the event's
     * token ends. But if the event was refused and is in another partition than the row's position, the row keeps its
     * own position. Positions of different partitions cannot be compared, and the token of a refused event is answered
     * from {@link OutcomeCache}.
     */
    public Row rowToStore(Row row) {
        Position rowPosition = row.position();
        boolean isInAnotherPartition =
                !rowPosition.topic().equals(position.topic()) || rowPosition.partition() != position.partition();
        return outcome.kind() == Outcome.Kind.REFUSED && isInAnotherPartition ? row : withPosition(position, row);
    }

    /**
     * Returns a copy of the row with the position of the event that caused its record. The position in the row may be
     * older, because some events, such as {@code described}, do not change it.
     */
    public static Row withPosition(Position position, Row row) {
        return new Row(
                row.uuid(),
                row.owner(),
                row.shard(),
                row.handle(),
                row.status(),
                row.epoch(),
                row.createdAt(),
                row.changedAt(),
                row.mergedInto(),
                position);
    }
}

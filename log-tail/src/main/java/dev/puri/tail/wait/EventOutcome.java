package dev.puri.tail.wait;

import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.jspecify.annotations.Nullable;

/**
 * The event that a record of {@code puri.identities.v1} answers, and its outcome, as the record's headers say.
 *
 * @param position of the event
 * @param outcome of the event
 */
public record EventOutcome(Position position, Outcome outcome) {
    /**
     * Reads the headers of a record.
     *
     * @return null when a header is missing
     * @throws IllegalArgumentException when the registry cannot have written the headers
     */
    public static @Nullable EventOutcome of(Headers headers) {
        String position = text(headers.lastHeader(Position.HEADER));
        String outcome = text(headers.lastHeader(Outcome.HEADER));
        return position == null || outcome == null
                ? null
                : new EventOutcome(Position.parse(position), Outcome.parse(outcome));
    }

    private static @Nullable String text(@Nullable Header header) {
        return header == null || header.value() == null ? null : new String(header.value(), StandardCharsets.UTF_8);
    }

    /**
     * Returns the row as it is kept: under the position of this event, so that a wait for its token ends. An event that
     * was refused in another partition than the row's leaves the row's own position: its token is known as refused, and
     * tokens of the row's partition could not be compared with its position.
     */
    public Row keep(Row row) {
        Position own = row.position();
        boolean isElsewhere = !own.topic().equals(position.topic()) || own.partition() != position.partition();
        return outcome.kind() == Outcome.Kind.REFUSED && isElsewhere ? row : under(position, row);
    }

    /**
     * Returns the row under the position of the event that its record answers, even if that event did not change the
     * row. The row's own position may be older: a description, for example, does not change it.
     */
    public static Row under(Position position, Row row) {
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

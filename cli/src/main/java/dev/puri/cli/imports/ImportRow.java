package dev.puri.cli.imports;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A planned row: the identity of one row of an input, as it is written to the file of rows.
 *
 * @param input index of the input in the mapping file
 * @param row number of the row in the input, from 1
 * @param present whether the registry had the identity when the plan was made
 * @param end null for an active identity
 * @param createdAt time of creation in an export, ISO 8601; null for the time of the plan
 */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
record ImportRow(
        int input,
        long row,
        String puri,
        UUID uuid,
        String owner,
        String shard,
        @Nullable String handle,
        @Nullable Map<String, String> attributes,
        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean present,
        @Nullable End end,
        @Nullable String createdAt) {
    /**
     * How an exported identity ended.
     *
     * @param at ISO 8601
     * @param mergedInto the pURI it was merged into; null if it was deleted
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record End(String at, @Nullable String mergedInto) {}

    static ImportRow of(
            int input,
            long row,
            Puri puri,
            UUID uuid,
            Owner owner,
            Shard shard,
            @Nullable Handle handle,
            Map<String, String> attributes) {
        return new ImportRow(
                input,
                row,
                puri.toString(),
                uuid,
                owner.text(),
                shard.text(),
                handle == null ? null : handle.text(),
                attributes,
                false,
                null,
                null);
    }

    ImportRow asPresent() {
        return new ImportRow(input, row, puri, uuid, owner, shard, handle, attributes, true, end, createdAt);
    }

    /**
     * Adds the status and the times of an exported row.
     *
     * @throws IllegalArgumentException if a value is missing or invalid
     */
    ImportRow withState(Map<String, String> exported) {
        String status = value(exported, "status");
        End newEnd = switch (status) {
            case "active" -> null;
            case "merged" ->
                new End(
                        time(exported, "changedAt"),
                        Puri.parse(value(exported, "mergedInto")).toString());
            case "deleted" -> new End(time(exported, "changedAt"), null);
            default -> throw new IllegalArgumentException("the status " + status + " is unknown");
        };
        return new ImportRow(
                input, row, puri, uuid, owner, shard, handle, attributes, present, newEnd, time(exported, "createdAt"));
    }

    private static String time(Map<String, String> exported, String column) {
        try {
            return Instant.parse(value(exported, column)).toString();
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException(column + ": " + e.getMessage(), e);
        }
    }

    private static String value(Map<String, String> exported, String column) {
        String value = exported.get(column);
        if (value == null) {
            throw new IllegalArgumentException("the column " + column + " is empty");
        }
        return value;
    }

    /**
     * Returns the events that create the identity and, if it ended, end it. They are the same events in each run, except
     * for the time of the plan.
     */
    List<Event> events(String source, Instant plannedAt) {
        Puri name = Puri.parse(puri);
        Event created = new Event(
                NameBasedIds.eventId(name, uuid),
                name,
                createdAt == null ? plannedAt : Instant.parse(createdAt),
                source,
                null,
                null,
                new Change.Created(
                        uuid,
                        new Owner(owner),
                        new Shard(shard),
                        handle == null ? null : new Handle(handle),
                        attributes == null ? Map.of() : attributes));
        if (end == null) {
            return List.of(created);
        }
        // The guard: if the creation is refused, this event must not end the identity that has the name.
        Event ended = new Event(
                NameBasedIds.endEventId(name, uuid),
                name,
                Instant.parse(end.at()),
                source,
                uuid,
                null,
                end.mergedInto() == null ? new Change.Deleted() : new Change.Merged(Puri.parse(end.mergedInto())));
        return List.of(created, ended);
    }
}

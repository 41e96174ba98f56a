package dev.puri.cli.imports;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A planned row: the identity of one row of an input, as it is written to the file of rows.
 *
 * @param input index of the input in the mapping file
 * @param row number of the row in the input, from 1
 * @param present whether the registry had the identity when the plan was made
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
        @JsonInclude(JsonInclude.Include.NON_DEFAULT) boolean present) {
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
                false);
    }

    ImportRow asPresent() {
        return new ImportRow(input, row, puri, uuid, owner, shard, handle, attributes, true);
    }

    /** Returns the event that creates the identity. It is the same event in each run. */
    Event event(String source, Instant plannedAt) {
        Puri name = Puri.parse(puri);
        return new Event(
                NameBasedIds.eventId(name, uuid),
                name,
                plannedAt,
                source,
                null,
                null,
                new Change.Created(
                        uuid,
                        new Owner(owner),
                        new Shard(shard),
                        handle == null ? null : new Handle(handle),
                        attributes == null ? Map.of() : attributes));
    }
}

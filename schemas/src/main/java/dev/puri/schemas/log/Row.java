package dev.puri.schemas.log;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Where an identity lives; the value of {@code puri.identities.v1} under its pURI.
 *
 * @param handle the public name; null where there is none
 * @param epoch counts changes of ownership, from 1
 * @param mergedInto the surviving pURI of a merged identity; null otherwise
 * @param position the last event that changed this row
 */
public record Row(
        UUID uuid,
        Owner owner,
        Shard shard,
        @Nullable Handle handle,
        Status status,
        long epoch,
        Instant createdAt,
        Instant changedAt,
        @Nullable Puri mergedInto,
        Position position) {
    /** What state an identity is in. */
    public enum Status {
        /** It is on the row's shard. */
        ACTIVE,
        /** It goes on under another pURI. */
        MERGED,
        /** It is gone. */
        DELETED
    }

    /**
     * @throws IllegalArgumentException when the epoch is below 1, or a survivor is missing or out of
     *     place
     */
    public Row {
        if (epoch < 1) {
            throw new IllegalArgumentException("an epoch counts from 1: " + epoch);
        }
        if ((status == Status.MERGED) != (mergedInto != null)) {
            throw new IllegalArgumentException("a survivor belongs to a merged row: " + status + ", " + mergedInto);
        }
    }
}

package dev.puri.schemas.log;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The location and state of an identity: the value of {@code puri.identities.v1}, keyed by pURI.
 *
 * @param handle the public name; null if there is none
 * @param epoch number of changes of ownership, from 1
 * @param mergedInto the survivor of a merged identity; null otherwise
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
    /** The state of an identity. */
    public enum Status {
        /** The object is on the row's shard. */
        ACTIVE,
        /** The object was merged into another one. */
        MERGED,
        /** The object was deleted. */
        DELETED
    }

    /**
     * @throws IllegalArgumentException if the epoch is below 1, or {@code mergedInto} does not fit the status
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

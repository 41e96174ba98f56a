package dev.puri.schemas.log;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The location and state of an identity: a value of {@code puri.identities.v1}, keyed by pURI.
 *
 * @param uuid primary key of the object in the shard's database
 * @param handle the public name; null if there is none
 * @param epoch number of events that created, moved, merged or deleted the identity, from 1
 * @param createdAt time of the creation
 * @param changedAt time of the last change of this row
 * @param mergedInto the identity into which this identity was merged; null if it was not merged
 * @param position position of the last event that changed this row
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
        Position position)
        implements Entry {
    /** The state of an identity. */
    public enum Status {
        /** The object is on the shard of the row. */
        ACTIVE,
        /** The object was merged into another object. */
        MERGED,
        /** The object was deleted. */
        DELETED
    }

    /**
     * @throws IllegalArgumentException if the epoch is below 1, if a merged row has no {@code mergedInto}, or if
     *     another row has one
     */
    public Row {
        if (epoch < 1) {
            throw new IllegalArgumentException("an epoch must be at least 1, not " + epoch);
        }
        if ((status == Status.MERGED) != (mergedInto != null)) {
            throw new IllegalArgumentException(
                    "mergedInto must be set exactly if the status is MERGED: " + status + ", " + mergedInto);
        }
    }
}

package dev.puri.resolver.feed;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Receives the changes of one table after the table has been filled. The thread that writes the table calls all methods
 * except {@link #completeAt}, after readers can see the change. So an implementation must be quick and must not throw.
 */
public interface RowChanges {
    /** Ignores all changes. */
    RowChanges NONE = new RowChanges() {
        @Override
        public void changed(int partition, long offset, Puri puri, @Nullable Row row) {}

        @Override
        public void changed(int partition, long offset, byte[] key, byte @Nullable [] value, byte @Nullable [] token) {}

        @Override
        public void reached(int partition, long offset) {}

        @Override
        public void completeAt(Instant time) {}
    };

    /**
     * A row changed. Called instead of the other overload for the few records that were read before the table went
     * live.
     *
     * @param offset the offset of the record in {@code puri.identities.v1}; increases within a partition
     * @param row the row after the change; null if it was removed
     */
    void changed(int partition, long offset, Puri puri, @Nullable Row row);

    /**
     * A row changed. The arrays are those of the record and must not be changed.
     *
     * @param offset the offset of the record in {@code puri.identities.v1}; increases within a partition
     * @param key the key of the record
     * @param value the value of the record; null for a tombstone
     * @param token the record's header {@code position}; null if it has none
     */
    void changed(int partition, long offset, byte[] key, byte @Nullable [] value, byte @Nullable [] token);

    /** The table has processed all records of a partition before an offset. */
    void reached(int partition, long offset);

    /**
     * At this time the table had all records of the topic. Called every few seconds, by another thread than the one
     * that writes the table.
     */
    void completeAt(Instant time);
}

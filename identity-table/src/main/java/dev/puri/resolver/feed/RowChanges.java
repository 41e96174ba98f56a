package dev.puri.resolver.feed;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Receives the changes of one complete table. The thread that writes the table calls it, after readers of the table can
 * see the change. So an implementation must be quick and must not throw.
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
     * A row changed.
     *
     * @param offset of the record in {@code puri.identities.v1}; it grows within a partition
     * @param row the row after the change; null when there is none
     */
    void changed(int partition, long offset, Puri puri, @Nullable Row row);

    /**
     * A row changed, by a live record of the topic.
     *
     * @param key of the record; not copied
     * @param value of the record; null for a tombstone
     * @param token the record's header {@code position}; null when it has none
     */
    void changed(int partition, long offset, byte[] key, byte @Nullable [] value, byte @Nullable [] token);

    /** The table has seen all of a partition up to an offset, with or without changes. */
    void reached(int partition, long offset);

    /**
     * The table had all records of the topic at that time. Called every few seconds, by another thread than the one
     * that writes.
     */
    void completeAt(Instant time);
}

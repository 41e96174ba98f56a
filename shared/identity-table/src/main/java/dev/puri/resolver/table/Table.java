package dev.puri.resolver.table;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * All identities, indexed by pURI and by handle. One thread writes while any number of threads read. A reader sees each
 * identity as it was at one time, never a mix of two states. If a failure ends the writing, the table serves its last
 * rows until another table replaces it.
 */
public interface Table {
    /** Returns the identity of a pURI, or null if there is none. */
    @Nullable
    Identity byPuri(Puri puri);

    /** Returns the identity that has a handle, or null if there is none. */
    @Nullable
    Identity byHandle(Handle handle);

    /** Returns a cursor that finds and reads rows without {@link Row} objects. The cursor is not thread-safe. */
    RecordView newView();

    /** Returns the number of identities, including merged and deleted identities. */
    long rows();

    /** Returns the next offset of a partition: the table has all earlier records of the partition. Initially 0. */
    long nextOffset(int partition);

    /**
     * Passes every identity to the consumer, in no particular order. The table may be written meanwhile. An identity
     * that does not change is passed once. An identity that changes is passed as it was before the change, after it, or
     * both.
     */
    void scan(Consumer<Identity> consumer);

    /** Returns the number of parts that {@link #scanPart} can read. */
    int partCount();

    /**
     * Passes every identity of one part to the consumer like {@link #scan}, but without {@link Identity} objects. An
     * identity never moves to another part.
     *
     * @param part the number of the part, from 0
     * @param view a view of this table. It has the fields of one identity during each call of the consumer
     */
    void scanPart(int part, RecordView view, Consumer<RecordView> consumer);

    /** Returns the current counts, without a scan. */
    TableStats stats();

    /**
     * Sets the listener for changed and removed rows, or removes it. There is at most one listener. The thread that
     * writes calls it after readers can see the change, so the listener must be quick and must not throw.
     *
     * @param listener null for none
     */
    void onChange(@Nullable Changes listener);

    /** Receives the changes of a table. */
    @FunctionalInterface
    interface Changes {
        /**
         * @param row the row after the change; null if it was removed
         */
        void changed(Puri puri, @Nullable Row row);
    }
}

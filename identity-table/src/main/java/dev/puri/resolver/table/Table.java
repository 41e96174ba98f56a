package dev.puri.resolver.table;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * All identities, indexed by pURI and by handle. One thread writes while any number of threads read; a reader sees each
 * identity as it was at some time, never a mix of two states. A table outlives the client that feeds it, so that it
 * serves until another table replaces it.
 */
public interface Table {
    /** The identity of that name; null when there is none. */
    @Nullable
    Identity byPuri(Puri puri);

    /** The identity that bears this handle; null when none does. */
    @Nullable
    Identity byHandle(Handle handle);

    /** Returns a view that finds and shows rows without creating objects; for one thread. */
    RecordView newView();

    /** The number of identities, with merged and deleted ones. */
    long rows();

    /** The next offset of a partition of the topic: the table has all records before it. 0 at first. */
    long reached(int partition);

    /**
     * Shows every identity, in no order. The table may be written meanwhile: an identity that does not change is shown
     * once; one that changes is shown before the change, after it, or both.
     */
    void scan(Consumer<Identity> seen);

    /** The number of parts, each of which {@link #show} reads. */
    int parts();

    /**
     * Shows every identity of one part like {@link #scan}, but without creating objects. An identity never moves to
     * another part.
     *
     * @param part from 0
     * @param view of this table; shows one identity after the other, valid only during the call of {@code seen}
     */
    void show(int part, RecordView view, Consumer<RecordView> seen);

    /** Returns the counts, which the table keeps up to date. They may differ by the few rows that are being written. */
    TableStats stats();

    /**
     * Sets the listener for rows that are put and names that are removed. The thread that writes calls it, after
     * readers can see the change; so it must be quick and must not throw. There is one listener at a time; null for
     * none.
     */
    void onChange(@Nullable Changes listener);

    /** Receives changes. */
    @FunctionalInterface
    interface Changes {
        /**
         * @param row the name's row after the change; null when there is none
         */
        void changed(Puri puri, @Nullable Row row);
    }
}

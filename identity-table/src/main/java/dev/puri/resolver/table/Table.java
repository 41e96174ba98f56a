package dev.puri.resolver.table;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Every identity, by two doors. One thread writes while any number read; a reader sees each identity
 * as it was at some moment, never half of it. Outlives the client that feeds it, so that it can answer
 * while another takes over.
 */
public interface Table {
    /** The identity of that name; null when there is none. */
    @Nullable
    Identity byPuri(Puri puri);

    /** The identity that bears this handle now; null when none does. */
    @Nullable
    Identity byHandle(Handle handle);

    /** Finds rows and shows them without an object for each, for one thread. */
    RecordView newView();

    /** How many identities there are, merged and deleted ones among them. */
    long rows();

    /** The offset up to which a partition of the topic has been seen; 0 before anything of it was. */
    long reached(int partition);

    /**
     * Shows every identity, in no order, while writing goes on: one that is not written meanwhile is
     * shown once, any other as it was before or after, or both.
     */
    void scan(Consumer<Identity> seen);

    /** The parts that it can be read in, one by one: {@link #show}. */
    int parts();

    /**
     * Shows every identity of one part, in no order, while writing goes on: as {@link #scan} does, without an object for
     * each, and no longer than {@code seen} takes. An identity stays in its part for ever.
     *
     * @param part from 0
     * @param view of this table; shows one identity after the other to {@code seen}
     */
    void show(int part, RecordView view, Consumer<RecordView> seen);

    /** What is in it, counted as it goes; cheap. Counts of one moment may be a few rows apart. */
    TableStats stats();

    /**
     * Tells of every row that is put and every name that is removed from now on, by the thread that
     * writes and after readers can see it; so it has to be quick and must not throw. One listener at a
     * time, null for none.
     */
    void onChange(@Nullable Changes listener);

    /** Hears of changes. */
    @FunctionalInterface
    interface Changes {
        /**
         * @param row what stands under the name now; null when nothing does
         */
        void changed(Puri puri, @Nullable Row row);
    }
}

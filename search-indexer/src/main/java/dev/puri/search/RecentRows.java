package dev.puri.search;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.tail.RecentEntries;
import org.jspecify.annotations.Nullable;

/**
 * The most recent rows that readers of the index can see: the last event of each name, and the bearer of each handle.
 * Waits for events look here first, without asking the engine. Also an upper bound for the time at which each row was
 * written. Of each kind the newest {@value #MOST}. Thread-safe.
 */
final class RecentRows {
    static final int MOST = 100_000;

    private final RecentEntries<Puri, Position> rows = new RecentEntries<>(MOST);
    private final RecentEntries<Handle, Puri> bearers = new RecentEntries<>(MOST);

    /** Rows that have no entry in {@link #writtenBefore} were written before this time, by {@link System#nanoTime}. */
    private long othersWrittenBefore = System.nanoTime();

    private final RecentEntries<Puri, Long> writtenBefore =
            new RecentEntries<>(MOST, evicted -> othersWrittenBefore = evicted);

    /** A name's row is about to be applied to the index. No reader has seen it yet. */
    synchronized void aboutToApply(Puri puri) {
        writtenBefore.put(puri, System.nanoTime());
    }

    /** Rows of any names are about to be applied. */
    synchronized void aboutToApplyMany() {
        writtenBefore.clear();
        othersWrittenBefore = System.nanoTime();
    }

    /**
     * A time, by {@link System#nanoTime}, before which the row that readers see of a name was written; or the
     * tombstone, if they see none.
     */
    synchronized long writtenBefore(Puri puri) {
        Long at = writtenBefore.get(puri);
        return at == null ? othersWrittenBefore : at;
    }

    /** Readers see this row. */
    synchronized void row(Puri puri, Position last, @Nullable Handle handle) {
        rows.put(puri, last);
        if (handle != null) {
            bearer(handle, puri);
        }
    }

    /** Readers find this bearer of a handle. */
    synchronized void bearer(Handle handle, Puri puri) {
        bearers.put(handle, puri);
    }

    /** Readers see no row of this name any more. */
    synchronized void removed(Puri puri) {
        rows.remove(puri);
    }

    /** The last event of a name's row; null when there is none, or it is not remembered. */
    synchronized @Nullable Position lastOf(Puri puri) {
        return rows.get(puri);
    }

    /** The bearer of a handle; null when nobody is remembered. */
    synchronized @Nullable Puri bearer(Handle handle) {
        return bearers.get(handle);
    }
}

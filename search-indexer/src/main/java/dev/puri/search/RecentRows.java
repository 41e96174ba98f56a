package dev.puri.search;

import dev.puri.projection.RecentEntries;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import org.jspecify.annotations.Nullable;

/**
 * A cache of the most recent rows that readers of the index see: the last event of each name, the name of each handle,
 * and an upper bound for the time at which each row was written. Waits for events check this cache without asking the
 * engine. Each map keeps the newest {@value #CAPACITY} entries. Thread-safe.
 */
final class RecentRows {
    static final int CAPACITY = 100_000;

    private final RecentEntries<Puri, Position> rows = new RecentEntries<>(CAPACITY);
    private final RecentEntries<Handle, Puri> purisByHandle = new RecentEntries<>(CAPACITY);

    /** The bound for rows without an entry in {@link #writtenBeforeNanos}, by {@link System#nanoTime}. */
    private long defaultWrittenBeforeNanos = System.nanoTime();

    private final RecentEntries<Puri, Long> writtenBeforeNanos =
            new RecentEntries<>(CAPACITY, evicted -> defaultWrittenBeforeNanos = evicted);

    /** Must be called before a row of this name is applied to the index, so before readers can see the row. */
    synchronized void aboutToApply(Puri puri) {
        writtenBeforeNanos.put(puri, System.nanoTime());
    }

    /** Must be called before rows of unknown names are applied to the index. */
    synchronized void aboutToApplyAny() {
        writtenBeforeNanos.clear();
        defaultWrittenBeforeNanos = System.nanoTime();
    }

    /**
     * Returns a time, by {@link System#nanoTime}, before which the visible row of a name was written. If no row is
     * visible, the name's tombstone was written before this time.
     */
    synchronized long writtenBeforeNanos(Puri puri) {
        Long nanos = writtenBeforeNanos.get(puri);
        return nanos == null ? defaultWrittenBeforeNanos : nanos;
    }

    /** Adds a row that readers see now. */
    synchronized void putRow(Puri puri, Position position, @Nullable Handle handle) {
        rows.put(puri, position);
        if (handle != null) {
            purisByHandle.put(handle, puri);
        }
    }

    /** Adds the pURI that the engine had for a handle, unless the cache has one, which may be of a later row. */
    synchronized void putPuriIfAbsent(Handle handle, Puri puri) {
        purisByHandle.putIfAbsent(handle, puri);
    }

    /** Removes the row of a name, after readers have stopped seeing the row. */
    synchronized void removeRow(Puri puri) {
        rows.remove(puri);
    }

    /** Returns the last event of a name's row; null if there is no row or the cache does not contain it. */
    synchronized @Nullable Position lastEventOf(Puri puri) {
        return rows.get(puri);
    }

    /** Returns the pURI of the identity that has a handle; null if the cache does not contain it. */
    synchronized @Nullable Puri puriOf(Handle handle) {
        return purisByHandle.get(handle);
    }
}

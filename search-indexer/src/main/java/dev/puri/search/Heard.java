package dev.puri.search;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.tail.RecentEntries;
import org.jspecify.annotations.Nullable;

/**
 * What was heard last of names, and readers of the index can see: up to which event, and who bears which
 * handle. So that those who wait for what is just coming need not ask the engine. The newest {@value #MOST}. And
 * before which moment each row was written, whether readers can see it or not.
 */
final class Heard {
    static final int MOST = 100_000;

    private final RecentEntries<Puri, Position> rows = new RecentEntries<>(MOST);
    private final RecentEntries<Handle, Puri> bearers = new RecentEntries<>(MOST);

    /** Rows that are not in {@link #writtenBefore} were written before this; by {@link System#nanoTime}. */
    private long othersWrittenBefore = System.nanoTime();

    private final RecentEntries<Puri, Long> writtenBefore =
            new RecentEntries<>(MOST, evicted -> othersWrittenBefore = evicted);

    /** The index is about to take this name's row; until then no reader can have seen it. */
    synchronized void comes(Puri puri) {
        writtenBefore.put(puri, System.nanoTime());
    }

    /** The same of any number of rows. */
    synchronized void manyCome() {
        writtenBefore.clear();
        othersWrittenBefore = System.nanoTime();
    }

    /** A moment before which the row that readers see of a name, or the lack of one, was written, by {@link System#nanoTime}. */
    synchronized long writtenBefore(Puri puri) {
        Long at = writtenBefore.get(puri);
        return at == null ? othersWrittenBefore : at;
    }

    synchronized void row(Puri puri, Position last, @Nullable Handle handle) {
        rows.put(puri, last);
        if (handle != null) {
            bearer(handle, puri);
        }
    }

    synchronized void bearer(Handle handle, Puri puri) {
        bearers.put(handle, puri);
    }

    synchronized void gone(Puri puri) {
        rows.remove(puri);
    }

    synchronized @Nullable Position lastOf(Puri puri) {
        return rows.get(puri);
    }

    synchronized @Nullable Puri bearer(Handle handle) {
        return bearers.get(handle);
    }
}

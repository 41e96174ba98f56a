package dev.puri.resolver.feed;

import dev.puri.resolver.table.Table;
import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * Frees the table that another has replaced. Look-ups and exports may still read it, so the collector alone can tell when its
 * gigabytes outside the heap are free; and the heap of a server, where next to nothing happens, gives it no reason to run. Exports take
 * about a second to end, so it is asked again until the table is gone. Used by one thread.
 */
final class ReplacedTable {
    /** How often the collector runs at the most for one table. */
    static final int MOST_RUNS = 10;

    private final Runnable collector;
    private @Nullable WeakReference<Table> table;
    private int runsLeft;

    /**
     * @param collector has unreachable objects collected
     */
    ReplacedTable(Runnable collector) {
        this.collector = collector;
    }

    /**
     * A table is being replaced. The caller must let go of it.
     *
     * @param before null when there was none
     */
    void begin(@Nullable Table before) {
        table = before == null ? null : new WeakReference<>(before);
        runsLeft = MOST_RUNS;
    }

    /** Has it collected, unless that has been done. To be called now and then. */
    void look() {
        if (runsLeft > 0 && table != null && table.get() != null) {
            runsLeft--;
            collector.run();
        }
    }
}

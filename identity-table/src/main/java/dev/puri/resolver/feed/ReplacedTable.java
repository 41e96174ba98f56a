package dev.puri.resolver.feed;

import dev.puri.resolver.table.Table;
import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * Frees a table that another has replaced. Look-ups and exports may still read it, so only the garbage collector knows
 * when its gigabytes outside the heap are free; and the small heap of a server gives the collector no reason to run.
 * Exports take about a second to end, so the collector runs again until the table is gone. Used by one thread.
 */
final class ReplacedTable {
    /** The largest number of runs for one table. */
    static final int MOST_RUNS = 10;

    private final Runnable collector;
    private @Nullable WeakReference<Table> table;
    private int runsLeft;

    /**
     * @param collector runs the garbage collector
     */
    ReplacedTable(Runnable collector) {
        this.collector = collector;
    }

    /**
     * Notes that a table is being replaced. The caller must not keep a reference to it.
     *
     * @param before null when there was none
     */
    void begin(@Nullable Table before) {
        table = before == null ? null : new WeakReference<>(before);
        runsLeft = MOST_RUNS;
    }

    /** Runs the collector unless the table is gone. Called about once a second. */
    void look() {
        if (runsLeft > 0 && table != null && table.get() != null) {
            runsLeft--;
            collector.run();
        }
    }
}

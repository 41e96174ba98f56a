package dev.puri.resolver.feed;

import dev.puri.resolver.table.Table;
import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * Makes the garbage collector free a table that was replaced. Look-ups and exports may still read the old table, so
 * only the collector knows when its gigabytes of off-heap memory can be freed. But the small heap of a server gives the
 * collector no reason to run. So this class runs the collector about once a second until the table is freed. Not
 * thread-safe.
 */
final class ReplacedTable {
    /** The maximum number of collector runs for one table. */
    static final int MAX_RUNS = 10;

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
     * Notes the table that is being replaced. The caller must drop its reference to the table.
     *
     * @param replacedTable the table; null if there was none
     */
    void replace(@Nullable Table replacedTable) {
        table = replacedTable == null ? null : new WeakReference<>(replacedTable);
        runsLeft = MAX_RUNS;
    }

    /** Runs the collector if the table is still in memory. Called about once a second. */
    void collectIfInMemory() {
        if (runsLeft > 0 && table != null && table.get() != null) {
            runsLeft--;
            collector.run();
        }
    }
}

package dev.puri.cli.verify;

import dev.puri.cli.verify.KeyTable.FullException;
import dev.puri.cli.verify.StoreKey.Slice;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.IntUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A comparison while the copy is written. Hashes find the keys that may differ, and their values are compared until
 * each key is settled:
 *
 * <pre>
 * read a hash of each key, compare ─▶ for the keys that differ, in batches:
 *      ┌─▶ read the values, compare ─▶ equal, or different and not changed meanwhile: settled
 *      └────────── changed meanwhile ◀─┘
 * </pre>
 *
 * If the hashes of all keys do not fit into memory, one half of the keys is compared after the other.
 *
 * @param <C> the values of a key that may differ
 */
abstract class SettledComparison<C> implements Check {
    private static final int MIN_BATCH = 20_000;
    private static final int MAX_BATCH = 1_000_000;

    /** Fields of both sides, as texts. */
    private static final int BYTES_PER_KEY = 4096;

    private static final int SHARE_OF_HEAP = 8;

    private final int columns;
    private final IntUnaryOperator maxSize;
    private final int maxRounds;
    private final int batchSize = batchSize(Runtime.getRuntime().maxMemory());
    private long rows;
    private long expectedRows;
    private long notCompared;

    /** The result of a comparison of values. */
    enum Comparison {
        EQUAL,

        DIFFERENT,

        /** The values may be of different times, so they are read again. */
        CHANGED
    }

    /**
     * @param columns number of columns of the table of hashes
     * @param maxSize maps the number of columns of a table to the number of keys that fit into memory
     * @param maxRounds maximum number of comparisons of a key that keeps changing
     */
    SettledComparison(int columns, IntUnaryOperator maxSize, int maxRounds) {
        this.columns = columns;
        this.maxSize = maxSize;
        this.maxRounds = maxRounds;
    }

    /**
     * Returns the number of keys whose values are in memory. For each batch the values are read from the beginning, so
     * a larger heap saves time.
     */
    static int batchSize(long maxMemory) {
        return (int) Math.clamp(maxMemory / SHARE_OF_HEAP / BYTES_PER_KEY, MIN_BATCH, MAX_BATCH);
    }

    /**
     * Checks that the sources are complete. Called before and after the comparison.
     *
     * @throws VerifyException if they are not, so that false differences would be reported
     */
    abstract void requireSources();

    /**
     * Reads the hashes of a slice of the keys into a {@link #newTable}. Counts and reports nothing, because the slice
     * is halved if its keys do not fit.
     */
    abstract KeyTable readHashes(Slice slice) throws FullException;

    /** Compares a key by its hashes and counts it; returns null if it is equal or cannot be compared. */
    abstract @Nullable C candidate(KeyTable table, int slot);

    /**
     * Reads the values of keys.
     *
     * @param round number of earlier readings of these keys
     */
    abstract void readValues(Map<StoreKey, C> keys, int round);

    /** Compares the values that were read last. */
    abstract Comparison compare(C candidate);

    /** Reports keys that differ. */
    abstract void report(Map<StoreKey, C> differing, Consumer<Difference> differences);

    /** Returns the result. */
    Result result(long rows, long expectedRows, long notCompared) {
        return new Result(rows, expectedRows, notCompared, Note.ofChanged(notCompared));
    }

    @Override
    public final Result run(Consumer<Difference> differences) {
        rows = 0;
        expectedRows = 0;
        notCompared = 0;
        requireSources();
        KeyTable.readAll(this::readHashes, table -> compare(table, differences));
        requireSources();
        return result(rows, expectedRows, notCompared);
    }

    final KeyTable newTable() {
        return new KeyTable(columns, maxSize.applyAsInt(columns));
    }

    /** Counts a key that can be compared. */
    final void count(boolean isExpected, boolean isFound) {
        rows += isExpected || isFound ? 1 : 0;
        expectedRows += isExpected ? 1 : 0;
    }

    final void countNotCompared() {
        notCompared++;
    }

    private void compare(KeyTable table, Consumer<Difference> differences) {
        Map<StoreKey, C> batch = new HashMap<>();
        for (int slot = 0; slot < table.slots(); slot++) {
            C candidate = table.isUsed(slot) ? candidate(table, slot) : null;
            if (candidate != null) {
                batch.put(table.key(slot), candidate);
                if (batch.size() == batchSize) {
                    settle(batch, differences);
                    batch.clear();
                }
            }
        }
        settle(batch, differences);
    }

    private void settle(Map<StoreKey, C> open, Consumer<Difference> differences) {
        for (int round = 0; round < maxRounds && !open.isEmpty(); round++) {
            readValues(open, round);
            Map<StoreKey, C> differing = new HashMap<>();
            for (Iterator<Map.Entry<StoreKey, C>> i = open.entrySet().iterator(); i.hasNext(); ) {
                Map.Entry<StoreKey, C> entry = i.next();
                Comparison comparison = compare(entry.getValue());
                if (comparison == Comparison.DIFFERENT) {
                    differing.put(entry.getKey(), entry.getValue());
                }
                if (comparison != Comparison.CHANGED) {
                    i.remove();
                }
            }
            report(differing, differences);
        }
        notCompared += open.size();
    }
}

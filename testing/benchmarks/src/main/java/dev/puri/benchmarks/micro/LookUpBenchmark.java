package dev.puri.benchmarks.micro;

import dev.puri.benchmarks.data.LookUpKeys;
import dev.puri.benchmarks.data.Population;
import dev.puri.resolver.table.Identity;
import dev.puri.resolver.table.PackedTable;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Look-ups by pURI and by handle, one at a time, and scans. */
@State(Scope.Benchmark)
public class LookUpBenchmark extends StepBenchmark {
    /** Number of prepared keys, which are looked up one after the other. */
    private static final int KEYS = 1 << 18;

    @Param("1000000")
    @SuppressWarnings("unused") // set by JMH
    int rows;

    private PackedTable table = new PackedTable();
    private LookUpKeys even = LookUpKeys.NONE;
    private LookUpKeys skewed = LookUpKeys.NONE;
    private LookUpKeys missing = LookUpKeys.NONE;

    /** The index of a thread's next key. */
    @State(Scope.Thread)
    public static class KeyIndex {
        private int next = new Random().nextInt(KEYS);

        int next() {
            next = next + 1 & KEYS - 1;
            return next;
        }
    }

    /** Fills the table and creates the keys. */
    @Setup
    public void fill() {
        table = Population.table(rows);
        Random random = new Random(rows);
        even = LookUpKeys.even(KEYS, rows, random);
        skewed = LookUpKeys.skewed(KEYS, rows, random);
        missing = LookUpKeys.missing(KEYS, rows, random);
    }

    @Benchmark
    public @Nullable Identity byPuri(KeyIndex index) {
        return table.byPuri(even.puris()[index.next()]);
    }

    @Benchmark
    public @Nullable Identity byPuriSkewed(KeyIndex index) {
        return table.byPuri(skewed.puris()[index.next()]);
    }

    @Benchmark
    public @Nullable Identity byPuriMissing(KeyIndex index) {
        return table.byPuri(missing.puris()[index.next()]);
    }

    @Benchmark
    public @Nullable Identity byHandle(KeyIndex index) {
        return table.byHandle(even.handles()[index.next()]);
    }

    @Benchmark
    public @Nullable Identity byHandleSkewed(KeyIndex index) {
        return table.byHandle(skewed.handles()[index.next()]);
    }

    @Benchmark
    public @Nullable Identity byHandleMissing(KeyIndex index) {
        return table.byHandle(missing.handles()[index.next()]);
    }

    /** Scans all rows; divide the figure by the number of rows. */
    @Benchmark
    public long scanOfAllRows() {
        long[] epochs = {0};
        table.scan(identity -> epochs[0] += identity.row().epoch());
        return epochs[0];
    }
}

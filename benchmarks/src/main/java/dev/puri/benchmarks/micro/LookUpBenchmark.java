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

/** Look-ups by name and handle, one at a time, and scans. */
@State(Scope.Benchmark)
public class LookUpBenchmark extends StepBenchmark {
    /** Keys made beforehand, which are looked up in turn. */
    private static final int KEYS = 1 << 18;

    @Param("1000000")
    @SuppressWarnings("unused") // set by JMH
    int rows;

    private PackedTable table = new PackedTable();
    private LookUpKeys even = LookUpKeys.NONE;
    private LookUpKeys skewed = LookUpKeys.NONE;
    private LookUpKeys missing = LookUpKeys.NONE;

    /** The next key of one thread. */
    @State(Scope.Thread)
    public static class Place {
        private int next = new Random().nextInt(KEYS);

        int next() {
            next = next + 1 & KEYS - 1;
            return next;
        }
    }

    /** Makes the table and the keys. */
    @Setup
    public void fill() {
        table = Population.table(rows);
        Random random = new Random(rows);
        even = LookUpKeys.even(KEYS, rows, random);
        skewed = LookUpKeys.skewed(KEYS, rows, random);
        missing = LookUpKeys.missing(KEYS, rows, random);
    }

    @Benchmark
    public @Nullable Identity byPuri(Place place) {
        return table.byPuri(even.puris()[place.next()]);
    }

    @Benchmark
    public @Nullable Identity byPuriSkewed(Place place) {
        return table.byPuri(skewed.puris()[place.next()]);
    }

    @Benchmark
    public @Nullable Identity byPuriMissing(Place place) {
        return table.byPuri(missing.puris()[place.next()]);
    }

    @Benchmark
    public @Nullable Identity byHandle(Place place) {
        return table.byHandle(even.handles()[place.next()]);
    }

    @Benchmark
    public @Nullable Identity byHandleSkewed(Place place) {
        return table.byHandle(skewed.handles()[place.next()]);
    }

    @Benchmark
    public @Nullable Identity byHandleMissing(Place place) {
        return table.byHandle(missing.handles()[place.next()]);
    }

    /** All rows; divide the figure by their number. */
    @Benchmark
    public long scanOfAllRows() {
        long[] epochs = {0};
        table.scan(identity -> epochs[0] += identity.row().epoch());
        return epochs[0];
    }
}

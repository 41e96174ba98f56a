package dev.puri.benchmarks;

import dev.puri.resolver.table.Identity;
import dev.puri.resolver.table.PackedTable;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Look-ups by both doors, one at a time, and scans. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class LookUpBenchmark {
    private static final double SKEW = 0.99;

    /** Keys made beforehand; asked for again and again in the same order. */
    private static final int WANTED = 1 << 18;

    @Param("1000000")
    @SuppressWarnings("unused") // set by JMH
    int rows;

    private PackedTable table = new PackedTable();
    private Wanted even = Wanted.NOTHING;
    private Wanted skewed = Wanted.NOTHING;
    private Wanted missing = Wanted.NOTHING;

    /** Where one thread stands in the keys. */
    @State(Scope.Thread)
    public static class Place {
        private int next = new Random().nextInt(WANTED);

        int next() {
            next = next + 1 & WANTED - 1;
            return next;
        }
    }

    /** Makes the table and what is wanted of it. */
    @Setup
    public void fill() {
        table = new PackedTable();
        Puts.fresh(table, 0, rows, null);
        Random random = new Random(rows);
        Zipf zipf = new Zipf(rows, SKEW);
        even = Wanted.of(WANTED, () -> random.nextInt(rows));
        skewed = Wanted.of(WANTED, () -> zipf.next(random));
        missing = Wanted.of(WANTED, () -> Population.missing(random.nextInt(rows)));
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

    /** All rows, so its figure is to be divided by them. */
    @Benchmark
    public long scanOfAllRows() {
        long[] epochs = {0};
        table.scan(identity -> epochs[0] += identity.row().epoch());
        return epochs[0];
    }
}

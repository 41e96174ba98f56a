package dev.puri.benchmarks.table;

import dev.puri.benchmarks.data.Population;
import dev.puri.benchmarks.report.Timing;
import dev.puri.resolver.table.GrowthSteps;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.RowBatch;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowEncoder;
import java.util.Random;
import java.util.function.LongUnaryOperator;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** Measures puts into a table by one thread, without a topic. */
record Puts(TableBench bench) {
    /** Rows made at a time, before the clock runs. */
    private static final int BATCH = 20_000;

    /** Of updates, and of rows that warm up. */
    private static final int MOST = 2_000_000;

    /** Each part holds its table no longer than it has to, because two of them may not fit. */
    void measure() {
        int some = Math.min(bench.rows, MOST);
        fresh(new PackedTable(), 0, some, null);
        taken(new PackedTable(), some);
        GrowthSteps.ofRows(some);
        measurePuts(some);
        System.gc();
        double taken = taken(new PackedTable(), bench.rows);
        bench.progress("took %,.0f records a second".formatted(taken));
        bench.add("take, fresh records", "rows/s", taken);
        System.gc();
        Histogram puts = Timing.histogram();
        fresh(new PackedTable(), 0, bench.rows, puts);
        bench.progress("%,d puts: %s".formatted(bench.rows, Timing.describe(puts)));
        bench.add("put, fresh rows, p99.99", "µs", Timing.micros(puts, 99.99));
        bench.add("put, fresh rows, longest", "ms", Timing.millis(puts, 100));
        System.gc();
        Histogram steps = GrowthSteps.ofRows(bench.rows);
        bench.progress("%,d growth steps: %s".formatted(steps.getTotalCount(), Timing.describe(steps)));
        bench.add("growth step, p99.9", "µs", Timing.micros(steps, 99.9));
        bench.add("longest growth step", "ms", Timing.millis(steps, 100));
        System.gc();
    }

    private void measurePuts(int some) {
        PackedTable table = new PackedTable();
        double fresh = fresh(table, 0, bench.rows, null);
        double updates = updates(table, bench.rows, some);
        bench.progress("put %,.0f fresh rows a second, %,.0f updates".formatted(fresh, updates));
        bench.add("put, fresh rows", "rows/s", fresh);
        bench.add("put, updates", "rows/s", updates);
    }

    /**
     * Puts the rows of a range of numbers.
     *
     * @param nanos takes the time of each put; null to read the clock less often
     * @return rows a second, from the puts' own time
     */
    static double fresh(PackedTable table, long from, long to, @Nullable Histogram nanos) {
        long took = 0;
        for (long first = from; first < to; first += BATCH) {
            took += batch(table, (int) Math.min(BATCH, to - first), first, number -> number, 0, nanos);
        }
        return (to - from) / (took / 1e9);
    }

    /** Takes records of the topic as a restore does. */
    private static double taken(PackedTable table, int rows) {
        RowBatch batch = table.newBatch();
        byte[][] keys = new byte[BATCH][];
        byte[][] values = new byte[BATCH][];
        byte[][] tokens = new byte[BATCH][];
        long took = 0;
        for (int first = 0; first < rows; first += BATCH) {
            int size = Math.min(BATCH, rows - first);
            for (int i = 0; i < size; i++) {
                Row row = Population.row(first + i, 0);
                keys[i] = Population.puri(first + i).toBytes();
                values[i] = RowEncoder.encode(Population.SCHEMA_ID, row);
                tokens[i] = Population.ascii(row.position().toString());
            }
            long startNanos = System.nanoTime();
            for (int i = 0; i < size; i++) {
                if (batch.isFull()) {
                    write(table, batch);
                }
                if (!batch.take(keys[i], values[i], tokens[i])) {
                    throw new IllegalStateException("a record is not taken: " + Population.puri(first + i));
                }
            }
            write(table, batch);
            took += System.nanoTime() - startNanos;
        }
        OurTable.requireRows(table, rows);
        return rows / (took / 1e9);
    }

    private static void write(PackedTable table, RowBatch batch) {
        table.write(batch);
        batch.clear();
    }

    /** Puts other rows under names that the table has. */
    static double updates(PackedTable table, int rows, int count) {
        Random random = new Random(rows);
        long took = 0;
        for (int done = 0; done < count; done += BATCH) {
            int size = Math.min(BATCH, count - done);
            took += batch(table, size, 0, number -> random.nextInt(rows), 1 + done / BATCH, null);
        }
        return count / (took / 1e9);
    }

    private static long batch(
            PackedTable table,
            int size,
            long first,
            LongUnaryOperator numbers,
            long version,
            @Nullable Histogram nanos) {
        Puri[] puris = new Puri[size];
        Row[] rows = new Row[size];
        for (int i = 0; i < size; i++) {
            long number = numbers.applyAsLong(first + i);
            puris[i] = Population.puri(number);
            rows[i] = Population.row(number, version);
        }
        long startNanos = System.nanoTime();
        for (int i = 0; i < size; i++) {
            if (nanos == null) {
                table.put(puris[i], rows[i]);
            } else {
                long before = System.nanoTime();
                table.put(puris[i], rows[i]);
                Timing.record(System.nanoTime() - before, nanos);
            }
        }
        return System.nanoTime() - startNanos;
    }
}

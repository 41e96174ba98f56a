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
    /** Number of rows that are created at a time, before the clock starts. */
    private static final int BATCH = 20_000;

    /** Maximum number of updates, and of rows for the warm-up. */
    private static final int MAX_UPDATES = 2_000_000;

    /** Measures with one table at a time, because two tables may not fit into memory. */
    void measure() {
        int updateCount = Math.min(bench.rows, MAX_UPDATES);
        fresh(new PackedTable(), 0, updateCount, null);
        recordsPerSecond(new PackedTable(), updateCount);
        GrowthSteps.ofRows(updateCount);
        measurePuts(updateCount);
        System.gc();
        double recordRate = recordsPerSecond(new PackedTable(), bench.rows);
        bench.progress("put %,.0f records per second".formatted(recordRate));
        bench.add("take, fresh records", "rows/s", recordRate);
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

    private void measurePuts(int updateCount) {
        PackedTable table = new PackedTable();
        double fresh = fresh(table, 0, bench.rows, null);
        double updates = updates(table, bench.rows, updateCount);
        bench.progress("put %,.0f fresh rows a second, %,.0f updates".formatted(fresh, updates));
        bench.add("put, fresh rows", "rows/s", fresh);
        bench.add("put, updates", "rows/s", updates);
    }

    /**
     * Puts the rows of a range of numbers.
     *
     * @param nanos receives the time of each put; null to read the clock less often
     * @return rows per second of the time in puts
     */
    static double fresh(PackedTable table, long from, long to, @Nullable Histogram nanos) {
        long putNanos = 0;
        for (long first = from; first < to; first += BATCH) {
            putNanos += putBatch(table, (int) Math.min(BATCH, to - first), first, number -> number, 0, nanos);
        }
        return (to - from) / (putNanos / 1e9);
    }

    /** Puts records of the topic as a restore does, and returns the records per second. */
    private static double recordsPerSecond(PackedTable table, int rows) {
        RowBatch batch = table.newBatch();
        byte[][] keys = new byte[BATCH][];
        byte[][] values = new byte[BATCH][];
        byte[][] tokens = new byte[BATCH][];
        long putNanos = 0;
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
                if (!batch.tryPut(0, keys[i], values[i], tokens[i])) {
                    throw new IllegalStateException(
                            "the batch does not accept a record: " + Population.puri(first + i));
                }
            }
            write(table, batch);
            putNanos += System.nanoTime() - startNanos;
        }
        OurTable.requireRows(table, rows);
        return rows / (putNanos / 1e9);
    }

    private static void write(PackedTable table, RowBatch batch) {
        table.write(batch);
        batch.clear();
    }

    /** Replaces rows of the table, and returns the rows per second. */
    static double updates(PackedTable table, int rows, int count) {
        Random random = new Random(rows);
        long putNanos = 0;
        for (int updated = 0; updated < count; updated += BATCH) {
            int size = Math.min(BATCH, count - updated);
            putNanos += putBatch(table, size, 0, number -> random.nextInt(rows), 1 + updated / BATCH, null);
        }
        return count / (putNanos / 1e9);
    }

    /** Puts a batch, and returns the nanoseconds that the puts took. */
    private static long putBatch(
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

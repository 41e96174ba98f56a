package dev.puri.benchmarks;

import dev.puri.resolver.table.GrowthSteps;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.RowBatch;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.LongUnaryOperator;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** Rows put straight into a table by one thread, without a topic. */
final class Puts {
    /** Rows made at a time, before the clock runs. */
    private static final int BATCH = 20_000;

    /** Of updates, and of what warms up. */
    private static final int MOST = 2_000_000;

    private final TableBench.Plan plan;
    private final Consumer<String> progress;

    Puts(TableBench.Plan plan, Consumer<String> progress) {
        this.plan = plan;
        this.progress = progress;
    }

    /** Each part holds its table no longer than it has to: two of them may not fit. */
    List<Figure> measure() {
        int some = Math.min(plan.rows(), MOST);
        fresh(new PackedTable(), 0, some, null);
        taken(new PackedTable(), some);
        GrowthSteps.ofRows(some);
        List<Figure> figures = new ArrayList<>(puts(some));
        System.gc();
        double taken = taken(new PackedTable(), plan.rows());
        progress.accept("took %,.0f records a second; load average %s".formatted(taken, Machine.load()));
        figures.add(Figure.alone("take, fresh records", "rows/s", taken));
        System.gc();
        figures.addAll(longest());
        System.gc();
        figures.addAll(growth());
        System.gc();
        return figures;
    }

    private List<Figure> puts(int some) {
        PackedTable table = new PackedTable();
        double fresh = fresh(table, 0, plan.rows(), null);
        double updates = updates(table, plan.rows(), some);
        progress.accept("put %,.0f fresh rows a second, %,.0f updates; load average %s"
                .formatted(fresh, updates, Machine.load()));
        return List.of(
                Figure.alone("put, fresh rows", "rows/s", fresh), Figure.alone("put, updates", "rows/s", updates));
    }

    private List<Figure> longest() {
        Histogram nanos = Pace.histogram();
        fresh(new PackedTable(), 0, plan.rows(), nanos);
        progress.accept("the longest of %,d puts took %.2f ms, p99.99 %.1f µs"
                .formatted(plan.rows(), nanos.getMaxValue() / 1e6, nanos.getValueAtPercentile(99.99) / 1e3));
        return List.of(
                Figure.alone("put, fresh rows, p99.99", "µs", nanos.getValueAtPercentile(99.99) / 1e3),
                Figure.alone("put, fresh rows, longest", "ms", nanos.getMaxValue() / 1e6));
    }

    private List<Figure> growth() {
        Histogram nanos = GrowthSteps.ofRows(plan.rows());
        progress.accept("the longest of %,d growth steps took %.2f ms, p99.9 %.1f µs"
                .formatted(nanos.getTotalCount(), nanos.getMaxValue() / 1e6, nanos.getValueAtPercentile(99.9) / 1e3));
        return List.of(
                Figure.alone("growth step, p99.9", "µs", nanos.getValueAtPercentile(99.9) / 1e3),
                Figure.alone("longest growth step", "ms", nanos.getMaxValue() / 1e6));
    }

    /**
     * Puts rows by their numbers, from one up to before another.
     *
     * @param nanos takes how long each put took; null to look at the clock less often
     * @return rows a second, from the puts' own time
     */
    static double fresh(PackedTable table, long from, long to, @Nullable Histogram nanos) {
        long took = 0;
        for (long first = from; first < to; first += BATCH) {
            took += batch(table, (int) Math.min(BATCH, to - first), first, number -> number, 0, nanos);
        }
        return (to - from) / (took / 1e9);
    }

    /** Takes records as they stand in the topic, and as a restore does. */
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
                tokens[i] = row.position().toString().getBytes(StandardCharsets.US_ASCII);
            }
            long begun = System.nanoTime();
            for (int i = 0; i < size; i++) {
                if (batch.isFull()) {
                    write(table, batch);
                }
                if (!batch.take(keys[i], values[i], tokens[i])) {
                    throw new IllegalStateException("a record is not taken at a glance: " + Population.puri(first + i));
                }
            }
            write(table, batch);
            took += System.nanoTime() - begun;
        }
        OurTable.requireRows(table, rows);
        return rows / (took / 1e9);
    }

    private static void write(PackedTable table, RowBatch batch) {
        table.write(batch);
        batch.clear();
    }

    /** Puts other rows under names that are there. */
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
        long begun = System.nanoTime();
        for (int i = 0; i < size; i++) {
            if (nanos == null) {
                table.put(puris[i], rows[i]);
            } else {
                long before = System.nanoTime();
                table.put(puris[i], rows[i]);
                Pace.record(System.nanoTime() - before, nanos);
            }
        }
        return System.nanoTime() - begun;
    }
}

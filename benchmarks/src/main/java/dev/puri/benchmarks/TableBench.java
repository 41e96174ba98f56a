package dev.puri.benchmarks;

import dev.puri.resolver.feed.TableClient;
import dev.puri.resolver.table.PackedTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The identity table beside other ways to hold the same rows. All that is filled from a topic reads that
 * of one broker; all look-ups end with a decoded row; all sides take turns.
 *
 * <pre>
 * publish ─▶ topic ─▶ Restores, BesideRestore
 *                └──▶ our table, kept ─▶ bytes ─▶ Gets, BesidePuts ─▶ Reopen
 *                                        Puts (no topic)
 * </pre>
 */
final class TableBench {
    /** Stores on the heap take hundreds of bytes a row, and the JVM takes a quarter of the machine. */
    private static final int MOST_ON_HEAP = 5_000_000;

    /** Enough for the JVM to compile all that a restore runs. */
    private static final int WARM_UP = 1_000_000;

    private final Plan plan;
    private final Consumer<String> progress;
    private final List<Figure> figures = new ArrayList<>();

    /** What can be measured alone. */
    enum Part {
        RESTORE,
        GETS,
        PUTS,
        REOPEN,
        BYTES
    }

    /**
     * How much is measured.
     *
     * @param gets of one round and side
     * @param rounds of look-ups, after one to warm up
     * @param fills of whole tables, after one to warm up
     */
    record Plan(int rows, int gets, int rounds, int fills, Set<Part> parts) {
        boolean has(Part part) {
            return parts.contains(part);
        }

        boolean fitsOnHeap() {
            return rows <= MOST_ON_HEAP;
        }
    }

    TableBench(Plan plan, Consumer<String> progress) {
        this.plan = plan;
        this.progress = progress;
    }

    static String leftOut(String baseline) {
        return baseline + ": left out above %,d rows".formatted(MOST_ON_HEAP);
    }

    Report run() throws Exception {
        String machine = Machine.describe();
        figures.add(Figure.alone("identities", "rows", plan.rows));
        if (plan.has(Part.PUTS)) {
            figures.addAll(new Puts(plan, progress).measure());
        }
        if (!plan.parts.equals(Set.of(Part.PUTS))) {
            try (FreshBroker broker = filled(plan.rows)) {
                fromTopic(broker);
            }
        }
        return new Report("table", machine, figures);
    }

    private FreshBroker filled(int rows) throws Exception {
        FreshBroker broker = FreshBroker.start();
        try {
            long begun = System.nanoTime();
            Population.publish(broker.bootstrapServers(), 0, rows, 0);
            progress.accept("published %,d rows in %.0f s".formatted(rows, Pace.seconds(begun)));
            return broker;
        } catch (Exception e) {
            broker.close();
            throw e;
        }
    }

    private void fromTopic(FreshBroker broker) throws Exception {
        if (plan.has(Part.RESTORE)) {
            restores(broker);
        }
        double bytes = 0;
        if (plan.has(Part.GETS) || plan.has(Part.REOPEN) || plan.has(Part.BYTES)) {
            long before = Bytes.heap();
            PackedTable table = new PackedTable();
            try (TableClient ours = OurTable.client(broker, table, "ours")) {
                ours.start();
                OurTable.requireRows(table, plan.rows);
                long onHeap = Math.max(0, Bytes.heap() - before);
                bytes = (double) (table.stats().bytes() + onHeap) / plan.rows;
            }
            // Nobody else writes it from here on.
            if (plan.has(Part.GETS)) {
                gets(broker, table);
            }
            if (plan.has(Part.REOPEN)) {
                figures.addAll(new Reopen(plan, broker, progress).measure(table));
            }
        }
        if (plan.has(Part.BYTES)) {
            bytes(broker, bytes);
        }
    }

    private void restores(FreshBroker broker) throws Exception {
        Restores restores = new Restores(plan, broker, progress);
        if (plan.rows <= WARM_UP) {
            figures.addAll(restores.measure(broker, plan.rows));
        } else {
            try (FreshBroker warm = filled(WARM_UP)) {
                figures.addAll(restores.measure(warm, WARM_UP));
            }
        }
        figures.addAll(new BesideRestore(plan, broker, progress).measure());
    }

    private void gets(FreshBroker broker, PackedTable table) throws Exception {
        progress.accept("filling what look-ups are compared with");
        Path dir = broker.directory("rocksdb");
        try (GlobalStores.Filled filled = GlobalStores.rocksDb(broker.bootstrapServers(), dir);
                Doors rocksDb = new RocksDbDoors(filled.store(), broker.directory("handles"), plan.rows);
                Doors lmdb = new LmdbDoors(broker.directory("lmdb"), plan.rows)) {
            Map<String, Doors> baselines = new LinkedHashMap<>();
            baselines.put("GlobalKTable RocksDB", rocksDb);
            baselines.put("LMDB", lmdb);
            figures.addAll(new Gets(plan, table, baselines, progress).measure());
        }
        FreshBroker.delete(dir);
        FreshBroker.delete(broker.directory("lmdb"));
        figures.addAll(new BesidePuts(plan, table, progress).measure());
    }

    /** All in: what is outside the heap and what is on it, of the stores and their handle maps. */
    private void bytes(FreshBroker broker, double ours) throws Exception {
        if (plan.fitsOnHeap()) {
            bytes(broker, ours, plan.rows, "");
        } else {
            try (FreshBroker fewer = filled(MOST_ON_HEAP)) {
                bytes(fewer, ours, MOST_ON_HEAP, ", at %,d rows".formatted(MOST_ON_HEAP));
            }
        }
    }

    private void bytes(FreshBroker broker, double ours, int rows, String at) throws IOException {
        String name = "bytes per identity, all in, both doors";
        double lmdb = Bytes.lmdb(broker.directory("lmdb-bytes"), rows);
        double inMemory = Bytes.inMemory(broker, rows);
        figures.add(new Figure(name, "B", ours, "in-memory store with a handle map" + at, inMemory));
        figures.add(new Figure(name, "B", ours, "LMDB with a handle map" + at, lmdb));
    }
}

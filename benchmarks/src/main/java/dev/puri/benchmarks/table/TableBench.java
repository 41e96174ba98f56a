package dev.puri.benchmarks.table;

import dev.puri.benchmarks.data.Population;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.environment.TemporaryFolder;
import dev.puri.benchmarks.report.Bench;
import dev.puri.benchmarks.report.Timing;
import dev.puri.resolver.feed.TableClient;
import dev.puri.resolver.table.PackedTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code puri bench table}: the identity table beside other stores of the same rows. All that are filled from a topic
 * read that of one broker; all look-ups end with a decoded row; all sides take turns.
 *
 * <pre>
 * publish ─▶ topic ─▶ Restores, LookUpsDuringRestore
 *                └──▶ our table, kept ─▶ bytes ─▶ LookUps, LookUpsDuringPuts ─▶ Reopen
 *                                        Puts (no topic)
 * </pre>
 */
@Command(
        name = "table",
        description = {
            "How fast the identity table answers, fills and opens, and what a row takes,",
            "beside Kafka Streams' own stores on the same topic of a broker in this process, and others."
        })
public final class TableBench extends Bench {
    /** Stores on the heap take hundreds of bytes a row, and the JVM takes a quarter of the machine. */
    private static final int MAX_ROWS_ON_HEAP = 5_000_000;

    /** Enough for the JVM to compile all that a restore runs. */
    private static final int WARM_UP = 1_000_000;

    @Option(names = "--rows", description = "Identities.")
    int rows = 1_000_000;

    @Option(names = "--gets", description = "Look-ups of one round and side.")
    int gets = 500_000;

    @Option(names = "--rounds", description = "Rounds of each side after one to warm up; medians count.")
    int rounds = 5;

    @Option(names = "--fills", description = "Times that each side is filled from the topic after one to warm up.")
    int fills = 2;

    @Option(names = "--only", split = ",", paramLabel = "PART", description = ONLY)
    private Set<Part> only = EnumSet.allOf(Part.class);

    private enum Part {
        RESTORE,
        GETS,
        PUTS,
        REOPEN,
        BYTES
    }

    private boolean has(Part part) {
        return only.contains(part);
    }

    boolean fitsOnHeap() {
        return rows <= MAX_ROWS_ON_HEAP;
    }

    /** Says why a store on the heap has no figure. */
    String leftOut() {
        return "left out above %,d rows".formatted(MAX_ROWS_ON_HEAP);
    }

    @Override
    protected void measure() throws Exception {
        require(
                rows >= 1000 && gets >= 1000 && rounds > 0 && fills > 0,
                "at least 1000 rows, 1000 gets, 1 round and 1 fill");
        add("identities", "rows", rows);
        if (has(Part.PUTS)) {
            new Puts(this).measure();
        }
        if (!only.equals(Set.of(Part.PUTS))) {
            try (FreshBroker broker = filled(rows)) {
                measureFromTopic(broker);
            }
        }
    }

    private FreshBroker filled(int rows) throws Exception {
        long startNanos = System.nanoTime();
        FreshBroker filled = FreshBroker.filled(broker -> Population.publish(broker.bootstrapServers(), 0, rows, 0));
        progress("published %,d rows in %.0f s".formatted(rows, Timing.seconds(startNanos)));
        return filled;
    }

    private void measureFromTopic(FreshBroker broker) throws Exception {
        if (has(Part.RESTORE)) {
            Restores restores = new Restores(this, broker);
            if (rows <= WARM_UP) {
                restores.measure(broker, rows);
            } else {
                try (FreshBroker warm = filled(WARM_UP)) {
                    restores.measure(warm, WARM_UP);
                }
            }
            new LookUpsDuringRestore(this, broker).measure();
        }
        double bytes = 0;
        if (has(Part.GETS) || has(Part.REOPEN) || has(Part.BYTES)) {
            long before = StoreBytes.heap();
            PackedTable table = new PackedTable();
            try (TableClient ours = OurTable.client(broker, table, "ours")) {
                ours.start();
                OurTable.requireRows(table, rows);
                long onHeap = Math.max(0, StoreBytes.heap() - before);
                bytes = (double) (table.stats().bytes() + onHeap) / rows;
            }
            // Nobody else writes to the table from here on.
            if (has(Part.GETS)) {
                measureGets(broker, table);
            }
            if (has(Part.REOPEN)) {
                new Reopen(this, broker).measure(table);
            }
        }
        if (has(Part.BYTES)) {
            measureBytes(broker, bytes);
        }
    }

    private void measureGets(FreshBroker broker, PackedTable table) throws Exception {
        progress("filling the baselines of look-ups");
        Path dir = broker.directory("rocksdb");
        try (GlobalStores.Filled filled = GlobalStores.rocksDb(broker, dir);
                RowStore rocksDb = new RocksDbStore(filled.store(), broker.directory("handles"), rows);
                RowStore lmdb = new LmdbStore(broker.directory("lmdb"), rows)) {
            Map<String, RowStore> baselines = new LinkedHashMap<>();
            baselines.put("GlobalKTable RocksDB", rocksDb);
            baselines.put("LMDB", lmdb);
            new LookUps(this, table, baselines).measure();
        }
        TemporaryFolder.delete(dir);
        TemporaryFolder.delete(broker.directory("lmdb"));
        new LookUpsDuringPuts(this, table).measure();
    }

    /** All bytes count, outside the heap and on it, of the stores and their handle maps. */
    private void measureBytes(FreshBroker broker, double ours) throws Exception {
        if (fitsOnHeap()) {
            addBytes(broker, ours, rows, "");
        } else {
            try (FreshBroker fewer = filled(MAX_ROWS_ON_HEAP)) {
                addBytes(fewer, ours, MAX_ROWS_ON_HEAP, ", at %,d rows".formatted(MAX_ROWS_ON_HEAP));
            }
        }
    }

    private void addBytes(FreshBroker broker, double ours, int rows, String at) throws IOException {
        String name = "bytes per identity, all in, both doors";
        double lmdb = StoreBytes.lmdb(broker.directory("lmdb-bytes"), rows);
        double inMemory = StoreBytes.inMemory(broker, rows);
        add(name, "B", ours, "in-memory store with a handle map" + at, inMemory);
        add(name, "B", ours, "LMDB with a handle map" + at, lmdb);
    }
}

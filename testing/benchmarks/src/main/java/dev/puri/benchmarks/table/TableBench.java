package dev.puri.benchmarks.table;

import dev.puri.benchmarks.data.Population;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.environment.TemporaryFolder;
import dev.puri.benchmarks.report.Bench;
import dev.puri.benchmarks.report.Timing;
import dev.puri.resolver.feed.StreamsTableFeeder;
import dev.puri.resolver.table.PackedTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code puri bench table}: the identity table, compared with other stores of the same rows. All stores that are filled
 * from a topic read the topic of one broker. All look-ups return a decoded row. All sides alternate.
 *
 * <pre>
 * publish ─▶ topic ─▶ Restores, LookUpsDuringRestore
 *                └──▶ our table ─▶ bytes ─▶ TableLookUps, LookUpsDuringPuts ─▶ Reopen
 *                                        Puts (no topic)
 * </pre>
 */
@Command(
        name = "table",
        description = {
            "Measures how fast the identity table answers, is restored and opens a snapshot, and the memory of a row,",
            "compared with the stores of Kafka Streams on the same topic, and with other stores."
        })
public final class TableBench extends Bench {
    /** A store on the heap needs hundreds of bytes per row, and the heap is a quarter of the machine's memory. */
    private static final int MAX_ROWS_ON_HEAP = 5_000_000;

    /** Number of rows after which the JVM has compiled the code of a restore. */
    private static final int WARM_UP_ROWS = 1_000_000;

    @Option(names = "--rows", description = "Number of identities.")
    int rows = 1_000_000;

    @Option(names = "--gets", description = "Number of look-ups of each side in each round.")
    int gets = 500_000;

    @Option(names = "--rounds", description = "Number of rounds of each side, after a warm-up; medians count.")
    int rounds = 5;

    @Option(
            names = "--fills",
            description = "Number of times that each side is restored from the topic, after a warm-up; medians count.")
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

    boolean fitsOnHeap() {
        return rows <= MAX_ROWS_ON_HEAP;
    }

    /** Returns the reason why a store on the heap has no figure. */
    String heapOmissionReason() {
        return "left out above %,d rows".formatted(MAX_ROWS_ON_HEAP);
    }

    @Override
    protected void measure() throws Exception {
        require(
                rows >= 1000 && gets >= 1000 && rounds > 0 && fills > 0,
                "needed: at least 1000 rows, 1000 gets, 1 round and 1 fill");
        add("identities", "rows", rows);
        if (only.contains(Part.PUTS)) {
            new Puts(this).measure();
        }
        if (!only.equals(Set.of(Part.PUTS))) {
            try (FreshBroker broker = startFilledBroker(rows)) {
                measureFromTopic(broker);
            }
        }
    }

    private FreshBroker startFilledBroker(int rows) throws Exception {
        long startNanos = System.nanoTime();
        FreshBroker filled = FreshBroker.filled(broker -> Population.publish(broker.bootstrapServers(), 0, rows, 0));
        progress("published %,d rows in %.0f s".formatted(rows, Timing.seconds(startNanos)));
        return filled;
    }

    private void measureFromTopic(FreshBroker broker) throws Exception {
        if (only.contains(Part.RESTORE)) {
            Restores restores = new Restores(this, broker);
            if (rows <= WARM_UP_ROWS) {
                restores.measure(broker, rows);
            } else {
                try (FreshBroker warmUp = startFilledBroker(WARM_UP_ROWS)) {
                    restores.measure(warmUp, WARM_UP_ROWS);
                }
            }
            new LookUpsDuringRestore(this, broker).measure();
        }
        double bytesPerRow = 0;
        if (only.contains(Part.GETS) || only.contains(Part.REOPEN) || only.contains(Part.BYTES)) {
            long heapBefore = heapBytes();
            PackedTable table = new PackedTable();
            try (StreamsTableFeeder ours = OurTable.feeder(broker, table, "ours")) {
                ours.start();
                OurTable.requireRows(table, rows);
                long onHeap = Math.max(0, heapBytes() - heapBefore);
                bytesPerRow = (double) (table.stats().bytes() + onHeap) / rows;
            }
            // The feeder is closed: from here on, only the measurements write to the table.
            if (only.contains(Part.GETS)) {
                measureGets(broker, table);
            }
            if (only.contains(Part.REOPEN)) {
                new Reopen(this, broker).measure(table);
            }
        }
        if (only.contains(Part.BYTES)) {
            measureBytes(broker, bytesPerRow);
        }
    }

    private void measureGets(FreshBroker broker, PackedTable table) throws Exception {
        progress("filling the baselines of look-ups");
        Path dir = broker.directory("rocksdb");
        try (GlobalStore.Filled filled = GlobalStore.ROCKSDB.fill(broker, dir);
                RowStore rocksDb = new RocksDbStore(filled.store(), broker.directory("handles"), rows);
                RowStore lmdb = new LmdbStore(broker.directory("lmdb"), rows)) {
            Map<String, RowStore> baselines = new LinkedHashMap<>();
            baselines.put("GlobalKTable RocksDB", rocksDb);
            baselines.put("LMDB", lmdb);
            new TableLookUps(this, table, baselines).measure();
        }
        TemporaryFolder.delete(dir);
        TemporaryFolder.delete(broker.directory("lmdb"));
        new LookUpsDuringPuts(this, table).measure();
    }

    /** Adds the bytes per row of the stores with their handle maps, outside the heap and on the heap. */
    private void measureBytes(FreshBroker broker, double ours) throws Exception {
        if (fitsOnHeap()) {
            addBytes(broker, ours, rows, "");
        } else {
            try (FreshBroker smaller = startFilledBroker(MAX_ROWS_ON_HEAP)) {
                addBytes(smaller, ours, MAX_ROWS_ON_HEAP, ", at %,d rows".formatted(MAX_ROWS_ON_HEAP));
            }
        }
    }

    private void addBytes(FreshBroker broker, double ours, int rows, String suffix) throws IOException {
        String name = "bytes per identity, with the indexes by pURI and by handle";
        double lmdb = lmdbBytes(broker.directory("lmdb-bytes"), rows);
        double inMemory = inMemoryBytes(broker, rows);
        add(name, "B", ours, "in-memory store with a handle map" + suffix, inMemory);
        add(name, "B", ours, "LMDB with a handle map" + suffix, lmdb);
    }

    /** Returns the used bytes of the heap after garbage collections. */
    private static long heapBytes() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    /** Returns the bytes per row of the in-memory store of Kafka Streams and of a map from handles to pURIs. */
    private static double inMemoryBytes(FreshBroker broker, int rows) {
        long heapBefore = heapBytes();
        Map<String, byte[]> handles = new HashMap<>();
        try (GlobalStore.Filled filled = GlobalStore.IN_MEMORY.fill(broker, broker.directory("in-memory"))) {
            for (int number = 0; number < rows; number++) {
                handles.put(
                        Population.handle(number).text(),
                        Population.puri(number).toBytes());
            }
            double bytesPerRow = (double) (heapBytes() - heapBefore) / rows;
            // These uses keep the JVM from freeing the map or the store before the measurement.
            byte[] puri =
                    Objects.requireNonNull(handles.get(Population.handle(0).text()));
            Objects.requireNonNull(filled.store().get(puri));
            return bytesPerRow;
        }
    }

    /** Returns the bytes per row of the pages of LMDB, handles included. */
    private static double lmdbBytes(Path dir, int rows) throws IOException {
        try (LmdbStore store = new LmdbStore(dir, rows)) {
            return (double) store.bytes() / rows;
        }
    }
}

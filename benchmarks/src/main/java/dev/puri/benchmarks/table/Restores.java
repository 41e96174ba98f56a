package dev.puri.benchmarks.table;

import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.environment.TemporaryFolder;
import dev.puri.benchmarks.report.Rounds;
import dev.puri.benchmarks.report.Timing;
import dev.puri.resolver.feed.TableClient;
import dev.puri.resolver.table.PackedTable;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** Measures how fast the table and its baselines are filled from the topic. */
record Restores(TableBench bench, FreshBroker broker) {
    private static final String OURS = "ours";
    private static final String IN_MEMORY = "GlobalKTable in-memory store, bytes as they are";

    /** By their names. */
    private static final Map<String, Baseline> BASELINES = baselines();

    /** Fills a store from a broker's topic, in a folder of its own. */
    private interface Baseline {
        GlobalStores.Filled fill(FreshBroker broker, Path dir);
    }

    private static Map<String, Baseline> baselines() {
        Map<String, Baseline> baselines = new LinkedHashMap<>();
        baselines.put("global store RocksDB, tuned, each record decoded to a row", GlobalStores::rocksDbDecoding);
        baselines.put("no-op global store, each record decoded to a row", GlobalStores::noOpDecoding);
        baselines.put("GlobalKTable RocksDB, tuned, bytes as they are", GlobalStores::rocksDb);
        baselines.put("no-op global store, bytes as they are", GlobalStores::noOp);
        baselines.put(IN_MEMORY, GlobalStores::inMemory);
        return baselines;
    }

    /**
     * Adds the rates.
     *
     * @param warm a broker with fewer rows, on which everything runs once before it counts
     */
    void measure(FreshBroker warm, int warmRows) throws Exception {
        Rounds rounds = bench.measureRounds(bench.fills, "rows restored a second", (round, recorder) -> {
            FreshBroker from = round == 0 ? warm : broker;
            int rows = round == 0 ? warmRows : bench.rows;
            recorder.record(OURS, ours(from, rows));
            for (Map.Entry<String, Baseline> each : BASELINES.entrySet()) {
                if (bench.fitsOnHeap() || !each.getKey().equals(IN_MEMORY)) {
                    recorder.record(each.getKey(), theirs(from, rows, each.getValue()));
                }
            }
        });
        for (String baseline : BASELINES.keySet()) {
            rounds.addIfMeasured("restore from topic", "rows/s", OURS, baseline, bench.leftOut());
        }
    }

    private static double ours(FreshBroker from, int rows) {
        System.gc();
        try (TableClient client = OurTable.client(from, new PackedTable(), "ours")) {
            long startNanos = System.nanoTime();
            client.start();
            double seconds = Timing.seconds(startNanos);
            OurTable.requireRows(client.table(), rows);
            return rows / seconds;
        }
    }

    private static double theirs(FreshBroker from, int rows, Baseline baseline) {
        System.gc();
        Path dir = from.newDirectory("theirs");
        try (GlobalStores.Filled filled = baseline.fill(from, dir)) {
            return rows / filled.seconds();
        } finally {
            TemporaryFolder.delete(dir);
        }
    }
}

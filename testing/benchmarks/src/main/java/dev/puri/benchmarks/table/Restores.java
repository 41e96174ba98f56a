package dev.puri.benchmarks.table;

import dev.puri.benchmarks.data.RowHashes;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.environment.TemporaryFolder;
import dev.puri.benchmarks.report.Rounds;
import dev.puri.benchmarks.report.Timing;
import dev.puri.resolver.feed.StreamsTableFeeder;
import dev.puri.resolver.table.PackedTable;
import java.nio.file.Path;

/** Measures how fast the identity table and its baselines are restored from the topic. */
record Restores(TableBench bench, FreshBroker broker) {
    private static final String OURS = "ours";
    private static final String ROW_HASH = "hash of a row, ns";
    /**
     * Measures and adds the figures.
     *
     * @param warmUp a broker for the warm-up, which may have fewer rows
     */
    void measure(FreshBroker warmUp, int warmUpRows) throws Exception {
        RowHashes hashes = new RowHashes();
        Rounds rounds = bench.measureRounds(bench.fills, "rows restored a second", (round, recorder) -> {
            FreshBroker source = round == 0 ? warmUp : broker;
            int rows = round == 0 ? warmUpRows : bench.rows;
            recorder.record(OURS, ourRate(source, rows));
            recorder.record(ROW_HASH, hashes.nanosInTable());
            for (GlobalStore baseline : GlobalStore.values()) {
                if (bench.fitsOnHeap() || baseline != GlobalStore.IN_MEMORY) {
                    recorder.record(baseline.title(), baselineRate(source, rows, baseline));
                }
            }
        });
        for (GlobalStore baseline : GlobalStore.values()) {
            rounds.addIfMeasured("restore from topic", "rows/s", OURS, baseline.title(), bench.heapOmissionReason());
        }
        bench.add("digest: hash of a row", "ns", rounds.median(ROW_HASH), "a restored row", 1e9 / rounds.median(OURS));
    }

    private static double ourRate(FreshBroker source, int rows) {
        System.gc();
        try (StreamsTableFeeder feeder = OurTable.feeder(source, new PackedTable(), "ours")) {
            long startNanos = System.nanoTime();
            feeder.start();
            double seconds = Timing.seconds(startNanos);
            OurTable.requireRows(feeder.table(), rows);
            return rows / seconds;
        }
    }

    private static double baselineRate(FreshBroker source, int rows, GlobalStore baseline) {
        System.gc();
        Path folder = source.newDirectory("theirs");
        try (GlobalStore.Filled filled = baseline.fill(source, folder)) {
            return rows / filled.seconds();
        } finally {
            TemporaryFolder.delete(folder);
        }
    }
}

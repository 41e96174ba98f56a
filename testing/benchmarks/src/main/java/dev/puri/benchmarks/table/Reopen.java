package dev.puri.benchmarks.table;

import dev.puri.benchmarks.data.Population;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.report.Rounds;
import dev.puri.benchmarks.report.Timing;
import dev.puri.resolver.feed.StreamsTableFeeder;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.SnapshotOrigin;
import dev.puri.resolver.table.SnapshotRequirements;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;

/** Measures the time to open a snapshot from disk, and then to read the records of the topic after the snapshot. */
record Reopen(TableBench bench, FreshBroker broker) {
    /** Number of records after the snapshot. */
    private static final int TAIL = 10_000;

    private static final String OPEN = "open a snapshot";
    private static final String READY = "reopen after a clean stop, start() to ready";

    /**
     * Measures and adds the figures.
     *
     * @param table has all rows of the topic, and no longer changes
     */
    void measure(PackedTable table) throws Exception {
        Path file = broker.directory("snapshot").resolve("identities.snapshot");
        Files.createDirectories(file.getParent());
        Instant now = Instant.now();
        long startNanos = System.nanoTime();
        table.writeSnapshot(file, new SnapshotOrigin(broker.identitiesId(), FreshBroker.PARTITIONS, now), now);
        double writeSeconds = Timing.seconds(startNanos);
        int updates = Math.min(TAIL / 2, bench.rows);
        Population.publish(broker.bootstrapServers(), bench.rows - updates, bench.rows + TAIL - updates, 1);
        Map<Integer, Long> endOffsets = broker.identitiesEndOffsets();
        Map<Integer, Long> beginningOffsets = new TreeMap<>(endOffsets);
        beginningOffsets.replaceAll((partition, end) -> 0L);
        SnapshotRequirements requirements = new SnapshotRequirements(
                broker.identitiesId(), beginningOffsets, endOffsets, Duration.ofDays(7), Instant.now());
        Rounds rounds = bench.measureRounds(bench.fills, "seconds to reopen", (round, recorder) -> {
            System.gc();
            long openNanos = System.nanoTime();
            PackedTable opened = PackedTable.open(file, requirements);
            recorder.record(OPEN, Timing.seconds(openNanos));
            try (StreamsTableFeeder feeder = OurTable.feeder(broker, opened, "reopened")) {
                feeder.start();
                recorder.record(READY, Timing.seconds(openNanos));
                OurTable.requireRows(opened, bench.rows + TAIL - updates);
            }
        });
        rounds.add(READY, "s", READY);
        rounds.add(OPEN, "s", OPEN);
        bench.add("write a snapshot", "s", writeSeconds);
        bench.add("size of a snapshot, per row", "B", (double) Files.size(file) / bench.rows);
    }
}

package dev.puri.benchmarks.table;

import dev.puri.benchmarks.data.Population;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.report.Rounds;
import dev.puri.benchmarks.report.Timing;
import dev.puri.resolver.feed.TableClient;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.SnapshotOrigin;
import dev.puri.resolver.table.SnapshotRequirements;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;

/** Measures from a snapshot on disk to a table that has all of its topic, including records after the snapshot. */
record Reopen(TableBench bench, FreshBroker broker) {
    private static final int TAIL = 10_000;
    private static final String OPEN = "open a snapshot";
    private static final String READY = "reopen after a clean stop, start() to ready";

    /**
     * Adds the times.
     *
     * @param table with all rows of the topic, which receives no more
     */
    void measure(PackedTable table) throws Exception {
        Path file = broker.directory("snapshot").resolve("identities.snapshot");
        Files.createDirectories(file.getParent());
        Instant now = Instant.now();
        long startNanos = System.nanoTime();
        table.writeSnapshot(file, new SnapshotOrigin(broker.identitiesId(), FreshBroker.PARTITIONS, now), now);
        double writing = Timing.seconds(startNanos);
        int updates = Math.min(TAIL / 2, bench.rows);
        Population.publish(broker.bootstrapServers(), bench.rows - updates, bench.rows + TAIL - updates, 1);
        Map<Integer, Long> ends = broker.identitiesEndOffsets();
        Map<Integer, Long> begins = new TreeMap<>(ends);
        begins.replaceAll((partition, end) -> 0L);
        SnapshotRequirements terms =
                new SnapshotRequirements(broker.identitiesId(), begins, ends, Duration.ofDays(7), Instant.now());
        Rounds rounds = bench.measureRounds(bench.fills, "seconds to reopen", (round, recorder) -> {
            System.gc();
            long opening = System.nanoTime();
            PackedTable opened = PackedTable.open(file, terms);
            recorder.record(OPEN, Timing.seconds(opening));
            try (TableClient next = OurTable.client(broker, opened, "reopened")) {
                next.start();
                recorder.record(READY, Timing.seconds(opening));
                OurTable.requireRows(opened, bench.rows + TAIL - updates);
            }
        });
        rounds.add(READY, "s", READY);
        rounds.add(OPEN, "s", OPEN);
        bench.add("write a snapshot", "s", writing);
        bench.add("size of a snapshot, per row", "B", (double) Files.size(file) / bench.rows);
    }
}

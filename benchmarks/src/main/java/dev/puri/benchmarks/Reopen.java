package dev.puri.benchmarks;

import dev.puri.resolver.feed.TableClient;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.SnapshotOrigin;
import dev.puri.resolver.table.SnapshotRequirements;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * From a snapshot on disk to a table that has all of its topic, some of which came after the snapshot.
 */
final class Reopen {
    private static final int TAIL = 10_000;
    private static final String OPEN = "open";
    private static final String READY = "ready";

    private final TableBench.Plan plan;
    private final FreshBroker broker;
    private final Consumer<String> progress;

    Reopen(TableBench.Plan plan, FreshBroker broker, Consumer<String> progress) {
        this.plan = plan;
        this.broker = broker;
        this.progress = progress;
    }

    /**
     * @param table has all of the topic, and is fed no more
     */
    List<Figure> measure(PackedTable table) throws Exception {
        Path file = broker.directory("snapshot").resolve("identities.snapshot");
        Files.createDirectories(file.getParent());
        Instant now = Instant.now();
        long begun = System.nanoTime();
        table.writeSnapshot(file, new SnapshotOrigin(broker.identitiesId(), FreshBroker.PARTITIONS, now), now);
        double writing = Pace.seconds(begun);
        int updates = Math.min(TAIL / 2, plan.rows());
        Population.publish(broker.bootstrapServers(), plan.rows() - updates, plan.rows() + TAIL - updates, 1);
        SnapshotRequirements terms = new SnapshotRequirements(
                broker.identitiesId(), begins(), broker.identitiesEnds(), Duration.ofDays(7), Instant.now());
        Rounds rounds = new Rounds(plan.fills(), progress).run("seconds to reopen", (round, turn) -> {
            System.gc();
            long opening = System.nanoTime();
            PackedTable opened = PackedTable.open(file, terms);
            turn.record(OPEN, Pace.seconds(opening));
            try (TableClient next = OurTable.client(broker, opened, "reopened" + round)) {
                next.start();
                turn.record(READY, Pace.seconds(opening));
                OurTable.requireRows(opened, plan.rows() + TAIL - updates);
            }
        });
        return List.of(
                Figure.alone("reopen after a clean stop, start() to ready", "s", rounds.median(READY)),
                Figure.alone("open a snapshot", "s", rounds.median(OPEN)),
                Figure.alone("write a snapshot", "s", writing),
                Figure.alone("size of a snapshot, per row", "B", (double) Files.size(file) / plan.rows()));
    }

    private static Map<Integer, Long> begins() {
        Map<Integer, Long> begins = new TreeMap<>();
        for (int partition = 0; partition < FreshBroker.PARTITIONS; partition++) {
            begins.put(partition, 0L);
        }
        return begins;
    }
}

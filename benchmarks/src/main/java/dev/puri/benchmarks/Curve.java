package dev.puri.benchmarks;

import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.SnapshotOrigin;
import dev.puri.resolver.table.SnapshotRequirements;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.apache.kafka.common.Uuid;

/**
 * What a look-up, a put and a row cost while one table grows from size to size. Without a topic and
 * without baselines: it is the shape that counts.
 */
final class Curve {
    private static final Uuid TOPIC = new Uuid(1, 2);
    private static final int UPDATES = 1_000_000;
    private static final int WARM_UPS = 2;

    private final Plan plan;
    private final Consumer<String> progress;

    /**
     * How much is measured.
     *
     * @param sizes rows, ascending
     * @param gets of one round
     */
    record Plan(List<Integer> sizes, int gets, int rounds) {}

    /** What is measured at each size. */
    enum Cost {
        BY_PURI("get by pURI", "ns"),
        BY_HANDLE("get by handle", "ns"),
        MISS("get by pURI, not there", "ns"),
        PUT("put, fresh rows", "ns"),
        UPDATE("put, updates", "ns"),
        SCAN("scan, per row", "ns"),
        OPEN("open a snapshot, per row", "ns"),
        BYTES("bytes per identity", "B");

        final String title;
        final String unit;

        Cost(String title, String unit) {
            this.title = title;
            this.unit = unit;
        }
    }

    /** All costs at one size. */
    record Step(int rows, Map<Cost, Double> costs) {
        double cost(Cost cost) {
            return costs.getOrDefault(cost, Double.NaN);
        }
    }

    Curve(Plan plan, Consumer<String> progress) {
        this.plan = plan;
        this.progress = progress;
    }

    List<Step> run() throws Exception {
        Path dir = FreshBroker.newDirectory();
        try {
            for (int warmUp = 0; warmUp < WARM_UPS; warmUp++) {
                measure(new PackedTable(), 0, plan.sizes.getFirst(), dir);
            }
            List<Step> steps = new ArrayList<>();
            PackedTable table = new PackedTable();
            for (int rows : plan.sizes) {
                Step step = measure(table, (int) table.rows(), rows, dir);
                progress.accept("%,d rows: %s; load average %s".formatted(rows, shown(step), Machine.load()));
                steps.add(step);
            }
            return steps;
        } finally {
            FreshBroker.delete(dir);
        }
    }

    private static String shown(Step step) {
        StringBuilder line = new StringBuilder();
        step.costs.forEach((cost, value) ->
                line.append(line.isEmpty() ? "" : "; ").append("%s %,.0f %s".formatted(cost.title, value, cost.unit)));
        return line.toString();
    }

    private Step measure(PackedTable table, int from, int rows, Path dir) throws Exception {
        Map<Cost, Double> costs = new EnumMap<>(Cost.class);
        costs.put(Cost.PUT, 1e9 / Puts.fresh(table, from, rows, null));
        OurTable.requireRows(table, rows);
        costs.put(Cost.BYTES, (double) table.stats().bytes() / rows);
        gets(table, rows, costs);
        costs.put(Cost.UPDATE, 1e9 / Puts.updates(table, rows, Math.min(rows, UPDATES)));
        costs.put(Cost.SCAN, scan(table, rows));
        costs.put(Cost.OPEN, open(table, rows, dir.resolve("identities.snapshot")));
        return new Step(rows, costs);
    }

    private void gets(PackedTable table, int rows, Map<Cost, Double> costs) throws Exception {
        Random random = new Random(rows);
        Rounds rounds = new Rounds(plan.rounds, line -> {}).run("gets", (round, turn) -> {
            Wanted wanted = Wanted.of(plan.gets, () -> random.nextInt(rows));
            Wanted missing = Wanted.of(plan.gets, () -> Population.missing(random.nextInt(rows)));
            turn.record(Cost.BY_PURI.title, Pace.of(plan.gets, i -> table.byPuri(wanted.puris()[i]) != null));
            turn.record(Cost.BY_HANDLE.title, Pace.of(plan.gets, i -> table.byHandle(wanted.handles()[i]) != null));
            turn.record(Cost.MISS.title, Pace.of(plan.gets, i -> table.byPuri(missing.puris()[i]) == null));
        });
        for (Cost cost : List.of(Cost.BY_PURI, Cost.BY_HANDLE, Cost.MISS)) {
            costs.put(cost, 1e9 / rounds.median(cost.title));
        }
    }

    private static double scan(PackedTable table, int rows) {
        long[] seen = {0};
        long begun = System.nanoTime();
        table.scan(identity -> seen[0]++);
        double seconds = Pace.seconds(begun);
        if (seen[0] != rows) {
            throw new IllegalStateException("a scan showed " + seen[0] + " rows instead of " + rows);
        }
        return seconds * 1e9 / rows;
    }

    private static double open(PackedTable table, int rows, Path file) throws Exception {
        Instant now = Instant.now();
        table.reach(0, rows);
        Map<Integer, Long> ends = table.writeSnapshot(file, new SnapshotOrigin(TOPIC, 1, now), now);
        long begun = System.nanoTime();
        PackedTable opened = PackedTable.open(
                file, new SnapshotRequirements(TOPIC, new TreeMap<>(Map.of(0, 0L)), ends, Duration.ofDays(7), now));
        double seconds = Pace.seconds(begun);
        OurTable.requireRows(opened, rows);
        Files.delete(file);
        return seconds * 1e9 / rows;
    }
}

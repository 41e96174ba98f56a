package dev.puri.benchmarks.table;

import dev.puri.benchmarks.data.LookUpKeys;
import dev.puri.benchmarks.environment.TemporaryFolder;
import dev.puri.benchmarks.report.Bench;
import dev.puri.benchmarks.report.Chart;
import dev.puri.benchmarks.report.Rounds;
import dev.puri.benchmarks.report.Timing;
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
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code puri bench curve}: the cost of a look-up, a put and a row at several sizes of one growing table. It has no
 * topic and no baselines, because only the shape of the curve matters.
 */
@Command(
        name = "curve",
        description = {
            "Measures the cost of a look-up, a put and a row of the identity table as the table grows.",
            "With --chart, also writes a chart as an SVG image."
        })
public final class CurveBench extends Bench {
    private static final Uuid TOPIC = new Uuid(1, 2);
    private static final int MILLION = 1_000_000;
    private static final int MAX_UPDATES = MILLION;
    private static final int WARM_UPS = 2;

    @Option(
            names = "--rows",
            split = ",",
            paramLabel = "N",
            description = "Numbers of rows at which costs are measured, ascending.")
    private List<Integer> sizes = List.of(1_000_000, 2_000_000, 5_000_000, 10_000_000, 20_000_000, 50_000_000);

    @Option(names = "--gets", description = "Number of look-ups of each kind in each round.")
    private int gets = 500_000;

    @Option(names = "--rounds", description = "Number of rounds, after a warm-up; medians count.")
    private int rounds = 5;

    @Option(names = "--chart", paramLabel = "FILE", description = "File for the chart.")
    private @Nullable Path chart;

    /** A cost that is measured at each size. */
    enum Cost {
        BY_PURI("get by pURI", "ns"),
        BY_HANDLE("get by handle", "ns"),
        MISS("get by pURI, not there", "ns"),
        PUT("put, fresh rows", "ns"),
        UPDATE("put, updates", "ns"),
        SCAN("scan, per row", "ns"),
        OPEN("open a snapshot, per row", "ns"),
        BYTES("bytes per identity", "B");

        private final String title;
        private final String unit;

        Cost(String title, String unit) {
            this.title = title;
            this.unit = unit;
        }
    }

    /** The costs at one size. */
    private record Step(int rows, Map<Cost, Double> costs) {
        double cost(Cost cost) {
            return costs.getOrDefault(cost, Double.NaN);
        }
    }

    @Override
    protected void measure() throws Exception {
        boolean areAscending = sizes.stream().sorted().distinct().toList().equals(sizes);
        require(
                areAscending && sizes.getFirst() >= 1000 && gets >= 1000 && rounds > 0,
                "needed: ascending sizes, at least 1000 rows, 1000 gets and 1 round");
        require(
                chart == null || Files.isWritable(chart.toAbsolutePath().getParent()),
                "cannot write a chart to " + chart);
        List<Step> steps = steps();
        if (chart != null) {
            Files.writeString(chart, chart(steps).svg());
        }
        for (Cost cost : Cost.values()) {
            for (Step step : steps) {
                add("%s, at %,d rows".formatted(cost.title, step.rows()), cost.unit, step.cost(cost));
            }
        }
    }

    private List<Step> steps() throws Exception {
        try (TemporaryFolder folder = TemporaryFolder.create()) {
            Path snapshot = folder.path().resolve("identities.snapshot");
            for (int warmUp = 0; warmUp < WARM_UPS; warmUp++) {
                measure(new PackedTable(), sizes.getFirst(), snapshot);
            }
            List<Step> steps = new ArrayList<>();
            PackedTable table = new PackedTable();
            for (int rows : sizes) {
                Step step = measure(table, rows, snapshot);
                progress("%,d rows; %s".formatted(rows, describe(step)));
                steps.add(step);
            }
            return steps;
        }
    }

    private static String describe(Step step) {
        return step.costs.entrySet().stream()
                .map(cost -> "%s %,.0f %s".formatted(cost.getKey().title, cost.getValue(), cost.getKey().unit))
                .collect(Collectors.joining("; "));
    }

    private Step measure(PackedTable table, int rows, Path snapshot) throws Exception {
        Map<Cost, Double> costs = new EnumMap<>(Cost.class);
        costs.put(Cost.PUT, 1e9 / Puts.fresh(table, table.rows(), rows, null));
        OurTable.requireRows(table, rows);
        costs.put(Cost.BYTES, (double) table.stats().bytes() / rows);
        measureGets(table, rows, costs);
        costs.put(Cost.UPDATE, 1e9 / Puts.updates(table, rows, Math.min(rows, MAX_UPDATES)));
        costs.put(Cost.SCAN, scanNanosPerRow(table, rows));
        costs.put(Cost.OPEN, openNanosPerRow(table, rows, snapshot));
        return new Step(rows, costs);
    }

    private void measureGets(PackedTable table, int rows, Map<Cost, Double> costs) throws Exception {
        Random random = new Random(rows);
        Rounds measured = measureRounds(rounds, "gets a second at %,d rows".formatted(rows), (round, recorder) -> {
            LookUpKeys keys = LookUpKeys.even(gets, rows, random);
            LookUpKeys missing = LookUpKeys.missing(gets, rows, random);
            recorder.record(Cost.BY_PURI.title, Timing.perSecond(gets, i -> table.byPuri(keys.puris()[i]) != null));
            recorder.record(
                    Cost.BY_HANDLE.title, Timing.perSecond(gets, i -> table.byHandle(keys.handles()[i]) != null));
            recorder.record(Cost.MISS.title, Timing.perSecond(gets, i -> table.byPuri(missing.puris()[i]) == null));
        });
        for (Cost cost : List.of(Cost.BY_PURI, Cost.BY_HANDLE, Cost.MISS)) {
            costs.put(cost, 1e9 / measured.median(cost.title));
        }
    }

    private static double scanNanosPerRow(PackedTable table, int rows) {
        long[] scannedRows = {0};
        long startNanos = System.nanoTime();
        table.scan(identity -> scannedRows[0]++);
        double seconds = Timing.seconds(startNanos);
        if (scannedRows[0] != rows) {
            throw new IllegalStateException("a scan returned " + scannedRows[0] + " rows instead of " + rows);
        }
        return seconds * 1e9 / rows;
    }

    private static double openNanosPerRow(PackedTable table, int rows, Path file) throws Exception {
        Instant now = Instant.now();
        table.setNextOffset(0, rows);
        Map<Integer, Long> ends = table.writeSnapshot(file, new SnapshotOrigin(TOPIC, 1, now), now);
        long startNanos = System.nanoTime();
        PackedTable opened = PackedTable.open(
                file, new SnapshotRequirements(TOPIC, new TreeMap<>(Map.of(0, 0L)), ends, Duration.ofDays(7), now));
        double seconds = Timing.seconds(startNanos);
        OurTable.requireRows(opened, rows);
        Files.delete(file);
        return seconds * 1e9 / rows;
    }

    private static Chart chart(List<Step> steps) {
        boolean inMillions = steps.stream().allMatch(step -> step.rows() % MILLION == 0);
        return new Chart(
                "The identity table as it grows",
                steps.stream()
                        .map(step -> (long) step.rows() / (inMillions ? MILLION : 1))
                        .toList(),
                inMillions ? " M rows" : " rows",
                List.of(
                        panel("ns a look-up, one thread", steps, Cost.BY_PURI, Cost.BY_HANDLE, Cost.MISS),
                        panel("ns a row written or read", steps, Cost.PUT, Cost.UPDATE, Cost.SCAN, Cost.OPEN),
                        panel("bytes per identity, outside the heap", steps, Cost.BYTES)));
    }

    private static Chart.Panel panel(String title, List<Step> steps, Cost... costs) {
        return new Chart.Panel(
                title,
                Stream.of(costs)
                        .map(cost -> new Chart.Line(
                                cost.title,
                                steps.stream().map(step -> step.cost(cost)).toList()))
                        .toList());
    }
}

package dev.puri.benchmarks.report;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.HdrHistogram.Histogram;

/**
 * The values that several sides of a benchmark have in several rounds. In each round, every side is measured once. A
 * figure is the median of all rounds but round 0, which only warms up.
 */
public final class Rounds {
    private final Bench bench;
    private final Map<String, List<Double>> values = new LinkedHashMap<>();

    /** Measures all sides. */
    public interface Measurement {
        /**
         * Measures each side once and records its values.
         *
         * @param round 0 for the warm-up
         */
        void measure(int round, Recorder recorder) throws Exception;
    }

    /** The measurement of one side in a round. */
    public interface Side {
        /** Measures the side. */
        void measure() throws Exception;
    }

    /** Receives the values of a round. */
    public interface Recorder {
        /** Records a value of a side. */
        void record(String side, double value);

        /** Records the percentiles 50 and 99, as sides whose names end with the percentile. */
        default void recordPercentiles(String side, Histogram nanos, double nanosPerUnit) {
            record(side + " p50", nanos.getValueAtPercentile(50) / nanosPerUnit);
            record(side + " p99", nanos.getValueAtPercentile(99) / nanosPerUnit);
        }
    }

    Rounds(Bench bench) {
        this.bench = bench;
    }

    void run(int round, String name, Measurement measurement) throws Exception {
        StringBuilder line = new StringBuilder(name).append(round > 0 ? "" : " (warm-up)");
        measurement.measure(round, (side, value) -> {
            line.append(value < 10 ? "; %s %.3f".formatted(side, value) : "; %s %,.0f".formatted(side, value));
            if (round > 0) {
                values.computeIfAbsent(side, key -> new ArrayList<>()).add(value);
            }
        });
        bench.progress(line.toString());
    }

    /**
     * Measures the sides one after the other; each round begins with another side. Collects garbage before each side,
     * so that no side pays for the garbage of the side before it.
     */
    public static void measureRotated(int round, Side... sides) throws Exception {
        List<Side> order = new ArrayList<>(List.of(sides));
        Collections.rotate(order, round);
        for (Side side : order) {
            System.gc();
            side.measure();
        }
    }

    /** Returns whether a side has values. */
    public boolean hasValues(String side) {
        return values.containsKey(side);
    }

    /** Returns the median of a side's values. */
    public double median(String side) {
        return median(Objects.requireNonNull(values.get(side), side));
    }

    /** Returns the median; for an even number of values, the mean of the middle two. */
    public static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }

    /** Adds a figure without a baseline to the report. */
    public void add(String name, String unit, String ours) {
        bench.add(name, unit, median(ours));
    }

    /** Adds a figure and the figure of a baseline to the report. */
    public void add(String name, String unit, String ours, String baseline, String theirs) {
        bench.add(name, unit, median(ours), baseline, median(theirs));
    }

    /** Adds a figure for each baseline; the name of a baseline is also the name of its side. */
    public void addForEachBaseline(String name, String unit, String ours, List<String> baselines) {
        baselines.forEach(baseline -> add(name, unit, ours, baseline, baseline));
    }

    /** Adds a figure and the figure of a baseline, or the reason why the baseline has no values. */
    public void addIfMeasured(String name, String unit, String ours, String baseline, String reason) {
        if (hasValues(baseline)) {
            add(name, unit, ours, baseline, baseline);
        } else {
            bench.addWithoutBaseline(name, unit, median(ours), baseline, reason);
        }
    }
}

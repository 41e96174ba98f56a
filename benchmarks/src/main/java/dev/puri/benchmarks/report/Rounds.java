package dev.puri.benchmarks.report;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.HdrHistogram.Histogram;

/** The values of sides that take turns. Medians count; the first round of each side only warms up. */
public final class Rounds {
    private final Bench bench;
    private final Map<String, List<Double>> values = new LinkedHashMap<>();

    /** One round of all sides. */
    public interface Turns {
        /**
         * Measures each side once.
         *
         * @param round 0 while warming up
         */
        void take(int round, Turn turn) throws Exception;
    }

    /** One side of a round. */
    public interface Side {
        /** Measures the side. */
        void measure() throws Exception;
    }

    /** Takes the values of each side. */
    public interface Turn {
        /** Records a value of a side. */
        void record(String side, double value);

        /** Records the values of two sides, whose names end with the percentile. */
        default void recordPercentiles(String side, Histogram nanos, double nanosPerUnit) {
            record(side + " p50", nanos.getValueAtPercentile(50) / nanosPerUnit);
            record(side + " p99", nanos.getValueAtPercentile(99) / nanosPerUnit);
        }
    }

    Rounds(Bench bench) {
        this.bench = bench;
    }

    void run(int round, String what, Turns turns) throws Exception {
        StringBuilder line = new StringBuilder(what).append(round > 0 ? "" : " (warm-up)");
        turns.take(round, (side, value) -> {
            line.append(value < 10 ? "; %s %.3f".formatted(side, value) : "; %s %,.0f".formatted(side, value));
            if (round > 0) {
                values.computeIfAbsent(side, each -> new ArrayList<>()).add(value);
            }
        });
        bench.progress(line.toString());
    }

    /**
     * Measures the sides one after the other, and begins with another one each round. Collects garbage before each, so
     * that no side pays for the one before it.
     */
    public static void measureRotated(int round, Side... sides) throws Exception {
        List<Side> order = new ArrayList<>(List.of(sides));
        Collections.rotate(order, round);
        for (Side side : order) {
            System.gc();
            side.measure();
        }
    }

    /** Returns whether a side took part. */
    public boolean has(String side) {
        return values.containsKey(side);
    }

    /** Returns the median of a side's values. */
    public double median(String side) {
        return median(Objects.requireNonNull(values.get(side), side));
    }

    /** Returns the median; of an even number of values the mean of the middle two. */
    public static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }

    /** Adds a figure that has no baseline to the report. */
    public void add(String name, String unit, String ours) {
        bench.add(name, unit, median(ours));
    }

    /** Adds a figure and that of its baseline to the report. */
    public void add(String name, String unit, String ours, String baseline, String theirs) {
        bench.add(name, unit, median(ours), baseline, median(theirs));
    }

    /** Adds a figure for each baseline, whose name is also that of its side. */
    public void addBeside(String name, String unit, String ours, List<String> baselines) {
        baselines.forEach(baseline -> add(name, unit, ours, baseline, baseline));
    }

    /** Adds a figure and that of a baseline, or why the baseline was left out. */
    public void addIfMeasured(String name, String unit, String ours, String baseline, String whyNot) {
        if (has(baseline)) {
            add(name, unit, ours, baseline, baseline);
        } else {
            bench.addWithout(name, unit, median(ours), baseline, whyNot);
        }
    }
}

package dev.puri.benchmarks;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;

/** Sides that take turns: every round has one turn of each, the first warms up, medians of the others count. */
final class Rounds {
    private final int counted;
    private final Consumer<String> progress;
    private final Map<String, List<Double>> paces = new LinkedHashMap<>();

    /** One round of all sides. */
    interface Turns {
        /**
         * @param round 0 while warming up
         */
        void take(int round, Turn turn) throws Exception;
    }

    /** One side of a round. */
    interface Side {
        void measure() throws Exception;
    }

    /** Takes the figures of each side. */
    interface Turn {
        void record(String side, double figure);
    }

    Rounds(int counted, Consumer<String> progress) {
        this.counted = counted;
        this.progress = progress;
    }

    /**
     * @param what is done, for the progress
     */
    Rounds run(String what, Turns turns) throws Exception {
        for (int round = 0; round <= counted; round++) {
            boolean counts = round > 0;
            StringBuilder line = new StringBuilder(what).append(counts ? ":" : " (warm-up):");
            turns.take(round, (side, figure) -> {
                line.append(figure < 10 ? " %s %.3f;".formatted(side, figure) : " %s %,.0f;".formatted(side, figure));
                if (counts) {
                    paces.computeIfAbsent(side, each -> new ArrayList<>()).add(figure);
                }
            });
            progress.accept(line + " load average " + Machine.load());
        }
        return this;
    }

    /**
     * Measures the sides one after the other, and begins with another one each round. Collects garbage before each, so
     * that no side pays for the one before it.
     */
    static void measureRotated(int round, Side... sides) throws Exception {
        List<Side> order = new ArrayList<>(List.of(sides));
        Collections.rotate(order, round);
        for (Side side : order) {
            System.gc();
            side.measure();
        }
    }

    boolean has(String side) {
        return paces.containsKey(side);
    }

    double median(String side) {
        return Throughput.median(Objects.requireNonNull(paces.get(side), side));
    }

    /** Ours beside one that took turns with it. */
    Figure figure(String name, String unit, String ours, String baseline, String theirs) {
        return new Figure(name, unit, median(ours), baseline, median(theirs));
    }
}

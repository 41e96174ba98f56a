package dev.puri.benchmarks.report;

import org.jspecify.annotations.Nullable;

/**
 * One measured figure.
 *
 * @param unit e.g. {@code 1/s} or {@code ms}
 * @param baseline of which {@code theirs} is the figure; null without one
 * @param theirs the baseline's figure from the same run; null without one
 */
record Figure(
        String name,
        String unit,
        double ours,
        @Nullable String baseline,
        @Nullable Double theirs) {

    /** Returns ours over theirs; null without a baseline. */
    @Nullable
    Double ratio() {
        return theirs == null ? null : ours / theirs;
    }
}

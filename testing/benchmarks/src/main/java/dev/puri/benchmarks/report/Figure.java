package dev.puri.benchmarks.report;

import org.jspecify.annotations.Nullable;

/**
 * One measured figure.
 *
 * @param unit e.g. {@code 1/s} or {@code ms}
 * @param baseline name of the baseline; null if there is none
 * @param theirs the figure of the baseline in the same run; null if there is none
 */
record Figure(
        String name,
        String unit,
        double ours,
        @Nullable String baseline,
        @Nullable Double theirs) {

    /** Returns ours divided by theirs; null if there is no figure of a baseline. */
    @Nullable
    Double ratio() {
        return theirs == null ? null : ours / theirs;
    }
}

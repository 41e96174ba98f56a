package dev.puri.benchmarks.report;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import org.HdrHistogram.Histogram;

/** Rates, and percentiles of times. All histograms are of nanoseconds. */
public final class Timing {
    private static final long MAX_NANOS = Duration.ofMinutes(1).toNanos();

    private Timing() {}

    /**
     * Measures the rate of an operation that this thread repeats.
     *
     * @param operation does the operation with this number, and returns whether the result was correct
     * @return operations per second
     */
    public static double perSecond(int count, IntPredicate operation) {
        long startNanos = System.nanoTime();
        int correctCount = 0;
        for (int i = 0; i < count; i++) {
            if (operation.test(i)) {
                correctCount++;
            }
        }
        double rate = count / seconds(startNanos);
        if (correctCount != count) {
            throw new IllegalStateException("only " + correctCount + " of " + count + " results were correct");
        }
        return rate;
    }

    /** Returns the seconds since a reading of System.nanoTime(). */
    public static double seconds(long startNanos) {
        return (System.nanoTime() - startNanos) / 1e9;
    }

    /** Returns an empty histogram. */
    public static Histogram histogram() {
        return new Histogram(MAX_NANOS, 3);
    }

    /** Records a time; a time above the maximum of the histogram is recorded as the maximum. */
    public static void record(long nanos, Histogram histogram) {
        histogram.recordValue(Math.min(nanos, MAX_NANOS));
    }

    /** Returns a percentile in milliseconds. */
    public static double millis(Histogram nanos, double percentile) {
        return nanos.getValueAtPercentile(percentile) / 1e6;
    }

    /** Returns a percentile in microseconds. */
    public static double micros(Histogram nanos, double percentile) {
        return nanos.getValueAtPercentile(percentile) / 1e3;
    }

    /** Returns five percentiles in milliseconds, for a line of progress. */
    public static String describe(Histogram nanos) {
        return DoubleStream.of(50, 90, 99, 99.9, 100)
                .mapToObj(percentile -> "%s %.2f".formatted(percentileName(percentile), millis(nanos, percentile)))
                .collect(Collectors.joining(", ", "", " ms"));
    }

    /** Returns e.g. {@code p99.9}; {@code longest} for 100. */
    static String percentileName(double percentile) {
        return percentile == 100
                ? "longest"
                : "p" + BigDecimal.valueOf(percentile).stripTrailingZeros().toPlainString();
    }
}

package dev.puri.benchmarks.report;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import org.HdrHistogram.Histogram;

/** Rates, and percentiles of times. All histograms are of nanoseconds. */
public final class Timing {
    private static final long LONGEST_NANOS = Duration.ofMinutes(1).toNanos();

    private Timing() {}

    /**
     * Does one thing after another in this thread.
     *
     * @param isRight does the thing of a number, and returns whether its answer was right
     * @return how many a second
     */
    public static double perSecond(int count, IntPredicate isRight) {
        long begun = System.nanoTime();
        int right = 0;
        for (int i = 0; i < count; i++) {
            if (isRight.test(i)) {
                right++;
            }
        }
        double pace = count / seconds(begun);
        if (right != count) {
            throw new IllegalStateException("only " + right + " of " + count + " answers were right");
        }
        return pace;
    }

    /** Returns the seconds since a nano time. */
    public static double seconds(long begun) {
        return (System.nanoTime() - begun) / 1e9;
    }

    /** Returns an empty histogram. */
    public static Histogram histogram() {
        return new Histogram(LONGEST_NANOS, 3);
    }

    /** Records a time; one that is too long for the histogram counts as the longest that it takes. */
    public static void record(long nanos, Histogram histogram) {
        histogram.recordValue(Math.min(nanos, LONGEST_NANOS));
    }

    /** Returns a percentile in milliseconds. */
    public static double millis(Histogram nanos, double percentile) {
        return nanos.getValueAtPercentile(percentile) / 1e6;
    }

    /** Returns a percentile in microseconds. */
    public static double micros(Histogram nanos, double percentile) {
        return nanos.getValueAtPercentile(percentile) / 1e3;
    }

    /** Returns some percentiles in milliseconds, for a line of progress. */
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

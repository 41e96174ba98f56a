package dev.puri.benchmarks;

import java.util.function.IntPredicate;
import org.HdrHistogram.Histogram;

/** Look-ups one after another by one thread. */
final class Pace {
    private static final long LONGEST_NANOS = 10_000_000_000L;

    private Pace() {}

    /**
     * @param isRight does one, and tells whether its answer was right
     * @return per second
     */
    static double of(int count, IntPredicate isRight) {
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

    static Histogram histogram() {
        return new Histogram(LONGEST_NANOS, 3);
    }

    static void record(long took, Histogram nanos) {
        nanos.recordValue(Math.min(took, LONGEST_NANOS));
    }

    static double seconds(long begun) {
        return (System.nanoTime() - begun) / 1e9;
    }
}

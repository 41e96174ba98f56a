package dev.puri.cli.imports;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Limits a rate. The clock starts with the first wait. */
final class Pace {
    private static final long NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

    /** The parts of a second in which a batch fits, so that the rate is even. */
    private static final int BATCHES_PER_SECOND = 10;

    private final @Nullable Integer maxPerSecond;
    private long startNanos;
    private long count;

    /**
     * @param maxPerSecond null for no limit
     */
    Pace(@Nullable Integer maxPerSecond) {
        this.maxPerSecond = maxPerSecond;
    }

    /** Returns the size of batches, so that they are evenly distributed. */
    int batchSize(int maxBatch) {
        return maxPerSecond == null ? maxBatch : Math.clamp(maxPerSecond / BATCHES_PER_SECOND, 1, maxBatch);
    }

    /** Waits until a number of further operations is within the limit. */
    void await(int further) throws InterruptedException {
        if (maxPerSecond == null) {
            return;
        }
        if (count == 0) {
            startNanos = System.nanoTime();
        }
        count += further;
        // As a double, because the product of a long exceeds its range after some billion operations.
        double dueNanos = (double) (count - further) / maxPerSecond * NANOS_PER_SECOND;
        TimeUnit.NANOSECONDS.sleep((long) dueNanos - (System.nanoTime() - startNanos));
    }
}

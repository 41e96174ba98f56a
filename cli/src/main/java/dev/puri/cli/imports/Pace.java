package dev.puri.cli.imports;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Limits a rate. The clock starts with the first operation. Of a pause, only a tenth of a second counts as unused time,
 * so that no burst follows it.
 */
final class Pace {
    private static final long NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

    /** The parts of a second in which a batch fits, so that the rate is even. */
    private static final int BATCHES_PER_SECOND = 10;

    private final @Nullable Integer maxPerSecond;
    private final LongSupplier nanoClock;
    private final Sleep sleep;
    private boolean isStarted;

    /** When the next operation may begin. */
    private long dueNanos;

    /** Waits for a time. */
    interface Sleep {
        /**
         * @param nanos returns at once if it is not positive
         */
        void sleep(long nanos) throws InterruptedException;
    }

    /**
     * @param maxPerSecond null for no limit
     */
    Pace(@Nullable Integer maxPerSecond) {
        this(maxPerSecond, System::nanoTime, TimeUnit.NANOSECONDS::sleep);
    }

    Pace(@Nullable Integer maxPerSecond, LongSupplier nanoClock, Sleep sleep) {
        this.maxPerSecond = maxPerSecond;
        this.nanoClock = nanoClock;
        this.sleep = sleep;
    }

    /** Returns the size of batches, so that they are evenly distributed. */
    int batchSize(int maxBatch) {
        return maxPerSecond == null ? maxBatch : Math.clamp(maxPerSecond / BATCHES_PER_SECOND, 1, maxBatch);
    }

    /** Waits until a number of further operations is within the limit. */
    void await(int further) throws InterruptedException {
        if (maxPerSecond == null || further == 0) {
            return;
        }
        long now = nanoClock.getAsLong();
        long earliest = now - NANOS_PER_SECOND / BATCHES_PER_SECOND;
        if (!isStarted) {
            isStarted = true;
            dueNanos = now;
        } else if (dueNanos - earliest < 0) {
            dueNanos = earliest;
        }
        sleep.sleep(dueNanos - now);
        dueNanos += further * NANOS_PER_SECOND / maxPerSecond;
    }
}

package dev.puri.cli.io;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Counts operations and limits their rate. The clock starts with the first operation. After a pause, at most a tenth of
 * a second counts as unused time, so that no burst follows. Not thread-safe.
 */
public final class RateLimiter {
    private static final long NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

    /** Number of batches in a second, so that the rate is even. */
    private static final int BATCHES_PER_SECOND = 10;

    private final @Nullable Integer maxPerSecond;
    private final LongConsumer progress;
    private final LongSupplier nanoClock;
    private final LongConsumer pause;
    private long count;
    private boolean isStarted;

    /** When the next operation may begin. */
    private long dueNanos;

    /**
     * @param maxPerSecond null for no limit
     */
    public RateLimiter(@Nullable Integer maxPerSecond) {
        this(maxPerSecond, count -> {});
    }

    /**
     * @param maxPerSecond null for no limit
     * @param progress receives the number of operations so far, after each batch
     */
    public RateLimiter(@Nullable Integer maxPerSecond, LongConsumer progress) {
        this(maxPerSecond, progress, System::nanoTime, LockSupport::parkNanos);
    }

    /**
     * @param pause waits for a number of nanoseconds; returns at once if it is not positive
     */
    public RateLimiter(
            @Nullable Integer maxPerSecond, LongConsumer progress, LongSupplier nanoClock, LongConsumer pause) {
        this.maxPerSecond = maxPerSecond;
        this.progress = progress;
        this.nanoClock = nanoClock;
        this.pause = pause;
    }

    /** Returns the size of batches, so that they are evenly distributed. */
    public int batchSize(int maxBatch) {
        return maxPerSecond == null ? maxBatch : Math.clamp(maxPerSecond / BATCHES_PER_SECOND, 1, maxBatch);
    }

    /** Counts operations that are not limited. */
    public void count(int operations) {
        count += operations;
        progress.accept(count);
    }

    /** Counts a batch of operations, and waits until it is within the limit. Returns early if interrupted. */
    public void await(int operations) {
        if (operations == 0) {
            return;
        }
        count(operations);
        if (maxPerSecond == null) {
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
        pause.accept(dueNanos - now);
        dueNanos += operations * NANOS_PER_SECOND / maxPerSecond;
    }
}

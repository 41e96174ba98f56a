package dev.puri.cli.verify;

import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/** Limits how many records are read in a second, so that a verification does not disturb the cluster. */
public final class Pacer {
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    private final long recordsPerSecond;
    private final LongConsumer progress;
    private final LongSupplier nanoClock;
    private final LongConsumer pause;
    private long count;
    private long nextNanos;

    /**
     * @param recordsPerSecond maximum number of records per second
     * @param progress receives the number of records that were read, after each batch
     */
    public Pacer(long recordsPerSecond, LongConsumer progress) {
        this(recordsPerSecond, progress, System::nanoTime, LockSupport::parkNanos);
    }

    /**
     * @param pause waits for a number of nanoseconds
     */
    Pacer(long recordsPerSecond, LongConsumer progress, LongSupplier nanoClock, LongConsumer pause) {
        this.recordsPerSecond = recordsPerSecond;
        this.progress = progress;
        this.nanoClock = nanoClock;
        this.pause = pause;
        this.nextNanos = nanoClock.getAsLong();
    }

    /** Counts records that were read. The next ones may be read at once. */
    void count(int records) {
        count += records;
        progress.accept(count);
    }

    /** Counts records that were read, and waits until the next ones may be read. */
    void read(int records) {
        count(records);
        long now = nanoClock.getAsLong();
        // Time in which nothing was read is not made up for by a burst.
        nextNanos = Math.max(nextNanos, now) + records * NANOS_PER_SECOND / recordsPerSecond;
        if (nextNanos > now) {
            pause.accept(nextNanos - now);
        }
    }
}

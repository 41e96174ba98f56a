package dev.puri.search;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Limits an expensive task to a share of the time. The task earns credit while time passes, up to a maximum, and may
 * run while it has credit. The time of a run is subtracted afterwards, so a long run delays the next one. Not
 * thread-safe.
 */
final class TimeShare {
    private final int divisor;
    private final long maxCreditNanos;
    private final LongSupplier nanoTime;
    private long creditNanos;
    private long accruedAtNanos;

    /** A run of the task. */
    @FunctionalInterface
    interface Run<E extends Exception> {
        void run() throws E;
    }

    /**
     * Creates a share that has the maximum credit.
     *
     * @param divisor the task earns the elapsed time divided by this number
     * @param maxCredit the maximum credit, for runs in quick succession
     * @param nanoTime {@link System#nanoTime}, or the clock of a test
     */
    TimeShare(int divisor, Duration maxCredit, LongSupplier nanoTime) {
        this.divisor = divisor;
        this.maxCreditNanos = maxCredit.toNanos();
        this.nanoTime = nanoTime;
        creditNanos = maxCreditNanos;
        accruedAtNanos = nanoTime.getAsLong();
    }

    /** Whether the task may run now. */
    boolean hasCredit() {
        long nowNanos = nanoTime.getAsLong();
        creditNanos = Math.min(maxCreditNanos, creditNanos + (nowNanos - accruedAtNanos) / divisor);
        accruedAtNanos = nowNanos;
        return creditNanos > 0;
    }

    /** Runs the task and subtracts its time from the credit. */
    <E extends Exception> void spend(Run<E> run) throws E {
        long startedAtNanos = nanoTime.getAsLong();
        try {
            run.run();
        } finally {
            creditNanos -= nanoTime.getAsLong() - startedAtNanos;
        }
    }
}

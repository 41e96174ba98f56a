package dev.puri.search;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * A token bucket that contains time: it limits an expensive task to a share of the time, or a rate to a time for each
 * operation. Credit accrues while time passes, up to a maximum. The task may run while there is credit; its time is
 * subtracted afterwards, so a long run delays the next one. Not thread-safe.
 */
final class TimeBudget {
    private final int divisor;
    private final long maxCreditNanos;
    private final LongSupplier nanoTime;
    private long creditNanos;
    private long accruedAtNanos;

    /**
     * Creates a budget that has the maximum credit.
     *
     * @param divisor the elapsed time divided by this number becomes credit
     * @param maxCredit the maximum credit, for runs in quick succession
     * @param nanoTime {@link System#nanoTime}, or the clock of a test
     */
    TimeBudget(int divisor, Duration maxCredit, LongSupplier nanoTime) {
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

    /** Subtracts the time of a run. The credit may become negative. */
    void spend(long nanos) {
        creditNanos -= nanos;
    }

    /** Returns the time until the credit is at its maximum again. */
    Duration timeUntilFull() {
        return Duration.ofNanos((maxCreditNanos - creditNanos) * divisor);
    }
}

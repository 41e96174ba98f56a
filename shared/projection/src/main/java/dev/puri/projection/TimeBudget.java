package dev.puri.projection;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * A token bucket that contains time: it limits an expensive task to a share of the time, or operations to a rate.
 * Credit accrues while time passes, up to a maximum. The task may run while there is credit; its time is subtracted
 * afterwards, so a long run delays the next one. Not thread-safe.
 */
public final class TimeBudget {
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
    public TimeBudget(int divisor, Duration maxCredit, LongSupplier nanoTime) {
        this.divisor = divisor;
        this.maxCreditNanos = maxCredit.toNanos();
        this.nanoTime = nanoTime;
        creditNanos = maxCreditNanos;
        accruedAtNanos = nanoTime.getAsLong();
    }

    /** Whether the task may run now. */
    public boolean hasCredit() {
        long nowNanos = nanoTime.getAsLong();
        creditNanos = Math.min(maxCreditNanos, creditNanos + (nowNanos - accruedAtNanos) / divisor);
        accruedAtNanos = nowNanos;
        return creditNanos > 0;
    }

    /** Subtracts the time of a run. The credit may become negative. */
    public void spend(long nanos) {
        creditNanos -= nanos;
    }

    /**
     * Subtracts the time of operations that have a maximum rate. If there is no credit left, waits until the credit is
     * at its maximum again: few long pauses cost fewer context switches than many short ones.
     *
     * @param perSecond the maximum rate; positive
     * @param stop ends the wait
     */
    public void spend(int operations, long perSecond, Stop stop) {
        spend(operations * TimeUnit.SECONDS.toNanos(1) / perSecond);
        if (!hasCredit()) {
            stop.awaitRequest(timeUntilFull());
        }
    }

    /** Returns the time until the credit is at its maximum again. */
    Duration timeUntilFull() {
        return Duration.ofNanos((maxCreditNanos - creditNanos) * divisor);
    }
}

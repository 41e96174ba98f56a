package dev.puri.tail;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * When a failed piece of work is due for its next attempt, by a {@link RetryPolicy}. A caller that may block waits for
 * {@link #nextDelay}; one that must not calls {@link #delay} after a failure and {@link #isDue} before each attempt.
 * Used by one thread.
 */
public final class Backoff {
    private final RetryPolicy policy;
    private final LongSupplier nanoTime;
    private Duration delay;
    private long dueAt;
    private long begunAt;
    private boolean hasBegun;

    /** The first attempt is due at once. */
    public Backoff(RetryPolicy policy) {
        this(policy, System::nanoTime);
    }

    /**
     * @param nanoTime the clock, like {@link System#nanoTime}
     */
    Backoff(RetryPolicy policy, LongSupplier nanoTime) {
        this.policy = policy;
        this.nanoTime = nanoTime;
        this.delay = policy.first();
        this.dueAt = nanoTime.getAsLong();
    }

    /**
     * Marks the start of an attempt that may last. If it fails after more than the longest delay, the next delay is the
     * first one again.
     */
    public void begin() {
        begunAt = nanoTime.getAsLong();
        hasBegun = true;
    }

    /** The delay before the next attempt; each call doubles the delay that follows. */
    public Duration nextDelay() {
        if (hasBegun && nanoTime.getAsLong() - begunAt > policy.longest().toNanos()) {
            delay = policy.first();
        }
        hasBegun = false;
        Duration next = delay;
        delay = policy.after(next);
        return next;
    }

    /** Makes the next attempt due after {@link #nextDelay}. */
    public void delay() {
        delayBy(nextDelay());
    }

    /** Makes the next attempt due after the first delay; the delays that follow stay as they are. */
    public void delayBriefly() {
        delayBy(policy.first());
    }

    private void delayBy(Duration time) {
        dueAt = nanoTime.getAsLong() + time.toNanos();
    }

    /** An attempt succeeded: the next delay is the first one again. */
    public void reset() {
        delay = policy.first();
        hasBegun = false;
    }

    /** Whether the next attempt is due. */
    public boolean isDue() {
        return dueAt - nanoTime.getAsLong() <= 0;
    }

    /** How long until the next attempt is due; zero when it is. */
    public Duration untilDue() {
        return Duration.ofNanos(Math.max(0, dueAt - nanoTime.getAsLong()));
    }
}

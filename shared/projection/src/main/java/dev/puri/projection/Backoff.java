package dev.puri.projection;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Schedules the attempts of work that may fail, with the delays of a {@link RetryPolicy}. A thread that may block
 * sleeps for {@link #takeDelay} after a failure. A thread that must not block calls {@link #delay} after a failure and
 * {@link #isDue} before each attempt. Used by one thread.
 */
public final class Backoff {
    private final RetryPolicy policy;
    private final LongSupplier nanoTime;
    private Duration upcomingDelay;
    private long dueAtNanos;
    private long attemptStartedAtNanos;
    private boolean isAttemptRunning;

    /** Creates a backoff whose first attempt is due at once. */
    public Backoff(RetryPolicy policy) {
        this(policy, System::nanoTime);
    }

    /**
     * @param nanoTime the clock, like {@link System#nanoTime}
     */
    Backoff(RetryPolicy policy, LongSupplier nanoTime) {
        this.policy = policy;
        this.nanoTime = nanoTime;
        this.upcomingDelay = policy.first();
        this.dueAtNanos = nanoTime.getAsLong();
    }

    /**
     * Notes that an attempt starts now. If the attempt runs longer than the policy's longest delay before it fails, the
     * next delay is the policy's first one again.
     */
    public void begin() {
        attemptStartedAtNanos = nanoTime.getAsLong();
        isAttemptRunning = true;
    }

    /** Returns the delay before the next attempt, and advances to the policy's delay after it. */
    public Duration takeDelay() {
        if (isAttemptRunning
                && nanoTime.getAsLong() - attemptStartedAtNanos
                        > policy.longest().toNanos()) {
            upcomingDelay = policy.first();
        }
        isAttemptRunning = false;
        Duration taken = upcomingDelay;
        upcomingDelay = policy.after(taken);
        return taken;
    }

    /** Schedules the next attempt after the delay that {@link #takeDelay} returns. */
    public void delay() {
        delayBy(takeDelay());
    }

    /** Schedules the next attempt after the policy's first delay. Later failures still get the longer delays. */
    public void delayBriefly() {
        delayBy(policy.first());
    }

    private void delayBy(Duration time) {
        dueAtNanos = nanoTime.getAsLong() + time.toNanos();
    }

    /** Notes that an attempt succeeded: the next delay is the first one again. */
    public void reset() {
        upcomingDelay = policy.first();
        isAttemptRunning = false;
    }

    /** Returns whether the next attempt is due. */
    public boolean isDue() {
        return dueAtNanos - nanoTime.getAsLong() <= 0;
    }

    /** Returns the time until the next attempt is due; zero if it is due. */
    public Duration untilDue() {
        return Duration.ofNanos(Math.max(0, dueAtNanos - nanoTime.getAsLong()));
    }
}

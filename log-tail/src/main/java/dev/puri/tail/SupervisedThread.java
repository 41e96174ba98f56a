package dev.puri.tail;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * A daemon thread that repeats one piece of work until it is stopped, whatever the work throws:
 *
 * <pre>
 * attempt ─▶ returns ───────────────────────────▶ delay ─▶ attempt ─▶ …
 *    └─────▶ throws anything ─▶ failure handler ────┘
 * </pre>
 *
 * A thread that ended by an unforeseen exception, or by an {@link Error} such as a passing lack of memory, would
 * silently leave its server without the work. So every {@link Throwable} goes to the failure handler, which keeps it
 * for health, and the work is tried again. Only a {@link Stop} ends the thread.
 */
public final class SupervisedThread {
    private final Stop stop;
    private final RetryPolicy policy;
    private final Attempt attempt;
    private final Consumer<Throwable> onFailure;
    private final Thread thread;

    /** The work. After it returns or throws, it is called again after a delay. */
    @FunctionalInterface
    public interface Attempt {
        /** Works for as long as it can; checks the stop itself if that is long. */
        void run() throws Exception;
    }

    /**
     * Makes the thread; {@link #start} starts it.
     *
     * @param stop ends the thread; the work may check it too
     * @param policy the delays between attempts; the first one follows an attempt that lasted longer than the longest
     * @param onFailure called on the thread with whatever an attempt throws, but not after the stop
     */
    public SupervisedThread(
            String name, Stop stop, RetryPolicy policy, Attempt attempt, Consumer<Throwable> onFailure) {
        this.stop = stop;
        this.policy = policy;
        this.attempt = attempt;
        this.onFailure = onFailure;
        this.thread = Thread.ofPlatform().name(name).daemon(true).unstarted(this::run);
    }

    /** Starts it; once. */
    public void start() {
        thread.start();
    }

    private void run() {
        Backoff backoff = new Backoff(policy);
        while (!stop.isAsked()) {
            backoff.begin();
            attempt();
            Duration delay = backoff.nextDelay();
            if (!stop.isAsked()) {
                // An interrupt that came without a stop has ended the attempt; it must not end the delays too.
                Thread.interrupted();
                stop.isAskedWithin(delay);
            }
        }
    }

    private void attempt() {
        try {
            attempt.run();
        } catch (Throwable cause) {
            if (!stop.isAsked()) {
                report(cause);
            }
        }
    }

    private void report(Throwable cause) {
        try {
            onFailure.accept(cause);
        } catch (Throwable unreported) {
            // Most likely there is no memory for the report. The work is tried again all the same.
            Thread.yield();
        }
    }

    /** Interrupts the thread. */
    public void interrupt() {
        thread.interrupt();
    }

    /** Unparks the thread. */
    public void unpark() {
        LockSupport.unpark(thread);
    }

    /**
     * Waits until the thread has ended.
     *
     * @return false when it has not ended within that time, or the caller was interrupted, which it stays
     */
    public boolean join(Duration within) {
        try {
            return !thread.isAlive() || thread.join(within);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}

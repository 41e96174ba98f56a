package dev.puri.projection;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * A daemon thread that repeats its work until it is stopped, whatever the work throws:
 *
 * <pre>
 * attempt ─▶ returns ───────────────────────────▶ delay ─▶ attempt ─▶ …
 *    └─────▶ throws anything ─▶ failure handler ────┘
 * </pre>
 *
 * If an unforeseen exception, or an {@link Error} such as a temporary lack of memory, ended the thread, its server
 * would silently go on without the work. So every {@link Throwable} goes to the failure handler, which reports it in
 * health, and the work is tried again. Only a {@link Stop} ends the thread.
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
        /** Does the work once, or until it fails. If it may take long, it must check the stop itself. */
        void run() throws Exception;
    }

    /**
     * Creates the thread; {@link #start} starts it.
     *
     * @param stop ends the thread; the work may check it too
     * @param policy the delays between attempts; an attempt that ran longer than the longest delay is followed by the
     *     first delay
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

    /** Starts the thread. May be called once. */
    public void start() {
        thread.start();
    }

    private void run() {
        Backoff backoff = new Backoff(policy);
        while (!stop.isRequested()) {
            backoff.begin();
            attempt();
            Duration delay = backoff.takeDelay();
            if (!stop.isRequested()) {
                // An interrupt without a stop has ended the attempt; it must not end the delay too.
                Thread.interrupted();
                stop.awaitRequest(delay);
            }
        }
    }

    private void attempt() {
        try {
            attempt.run();
        } catch (Throwable cause) {
            if (!stop.isRequested()) {
                report(cause);
            }
        }
    }

    private void report(Throwable cause) {
        try {
            onFailure.accept(cause);
        } catch (Throwable ignored) {
            // The report failed too, probably for lack of memory. The thread must not end, so the work is tried again.
        }
    }

    /** Interrupts the attempt, so that a blocking call in it ends. Call it after the stop. */
    public void interrupt() {
        thread.interrupt();
    }

    /** Ends a {@link LockSupport#park} in the attempt. Has no effect on the delay. */
    public void unpark() {
        LockSupport.unpark(thread);
    }

    /**
     * Waits until the thread has ended.
     *
     * @return false if the thread has not ended within the time, or the caller was interrupted; the caller's interrupt
     *     status stays set
     */
    public boolean join(Duration timeout) {
        try {
            return !thread.isAlive() || thread.join(timeout);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}

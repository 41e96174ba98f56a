package dev.puri.benchmarks.environment;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Polls until a condition is met. */
public final class Await {
    private static final Duration POLL_INTERVAL = Duration.ofMillis(5);

    private Await() {}

    /** A condition to wait for. */
    public interface Condition {
        /** Returns whether the condition is met. */
        boolean isMet() throws IOException;
    }

    /**
     * Checks a condition every 5 ms until it is met.
     *
     * @param name describes the condition in the error message
     * @throws IllegalStateException if the condition is not met within the timeout
     */
    public static void until(String name, Duration timeout, Condition condition) throws IOException {
        until(name, timeout, POLL_INTERVAL, condition);
    }

    /** Checks a condition at this interval until it is met, as {@link #until(String, Duration, Condition)} does. */
    public static void until(String name, Duration timeout, Duration interval, Condition condition) throws IOException {
        long deadline = System.nanoTime() + timeout.toNanos();
        while (!condition.isMet()) {
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException(name + ": not within " + timeout.toSeconds() + " s");
            }
            LockSupport.parkNanos(interval.toNanos());
        }
    }
}

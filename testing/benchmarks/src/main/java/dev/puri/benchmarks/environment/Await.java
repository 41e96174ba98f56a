package dev.puri.benchmarks.environment;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Polls until a condition is met. */
public final class Await {
    private static final long POLL_NANOS = 5_000_000;

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
        long deadline = System.nanoTime() + timeout.toNanos();
        while (!condition.isMet()) {
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException(name + ": not within " + timeout.toSeconds() + " s");
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }
}

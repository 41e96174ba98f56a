package dev.puri.benchmarks.environment;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Waits until something is so. */
public final class Await {
    private static final long STEP_NANOS = 5_000_000;

    private Await() {}

    /** Something to wait for. */
    public interface Condition {
        /** Returns whether the wait is over. */
        boolean isMet() throws IOException;
    }

    /**
     * Looks every 5 ms.
     *
     * @param what is awaited, for the message
     * @throws IllegalStateException if it takes longer than the time
     */
    public static void until(String what, Duration time, Condition condition) throws IOException {
        long deadline = System.nanoTime() + time.toNanos();
        while (!condition.isMet()) {
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException(what + ": not within " + time.toSeconds() + " s");
            }
            LockSupport.parkNanos(STEP_NANOS);
        }
    }
}

package dev.puri.tail;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Asks the work of a thread to end. The work checks it between two steps, and waits with {@link #isAskedWithin}, which
 * it ends. Thread-safe.
 */
public final class Stop {
    private final CountDownLatch asked = new CountDownLatch(1);

    /** Asks the work to end; further calls do nothing. */
    public void ask() {
        asked.countDown();
    }

    /** Whether the work has been asked to end. */
    public boolean isAsked() {
        return asked.getCount() == 0;
    }

    /**
     * Waits for the stop.
     *
     * @return true as soon as the stop is asked for or the thread is interrupted, which it stays; false after the time
     */
    public boolean isAskedWithin(Duration time) {
        try {
            return asked.await(TimeUnit.NANOSECONDS.convert(time), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }
}

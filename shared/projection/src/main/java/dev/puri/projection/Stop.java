package dev.puri.projection;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A request to end the work of a thread. The work checks {@link #isRequested} between two steps. It waits with {@link
 * #awaitRequest}, which returns as soon as the stop is requested. Thread-safe.
 */
public final class Stop {
    private final CountDownLatch requested = new CountDownLatch(1);

    /** Requests the stop; further calls do nothing. */
    public void request() {
        requested.countDown();
    }

    /** Returns whether the stop has been requested. */
    public boolean isRequested() {
        return requested.getCount() == 0;
    }

    /**
     * Waits until the stop is requested, at most for the given time.
     *
     * @return true if the stop was requested or the thread was interrupted, whose interrupt status stays set; false
     *     after the time
     */
    public boolean awaitRequest(Duration time) {
        try {
            return requested.await(TimeUnit.NANOSECONDS.convert(time), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }
}

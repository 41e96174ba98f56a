package dev.puri.client.outbox;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Lets a relay's thread wait. Closing the relay ends every wait, and a wake-up ends the wait for rows. */
final class Pauses {
    private final Semaphore wake = new Semaphore(0);
    private final CountDownLatch closed = new CountDownLatch(1);

    /**
     * Waits after a failure or on standby. A wake-up during this wait takes effect in the next {@link #waitForRows}.
     */
    void backOff(Duration time) throws InterruptedException {
        var unused = closed.await(time.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Waits until a wake-up, but not longer than this time. */
    void waitForRows(Duration time) throws InterruptedException {
        if (closed.getCount() > 0 && wake.tryAcquire(time.toNanos(), TimeUnit.NANOSECONDS)) {
            wake.drainPermits();
        }
    }

    void wake() {
        if (wake.availablePermits() == 0) {
            wake.release();
        }
    }

    void close() {
        closed.countDown();
        wake();
    }
}

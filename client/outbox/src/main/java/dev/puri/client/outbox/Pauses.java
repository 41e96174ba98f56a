package dev.puri.client.outbox;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** The waits of a relay's thread. Closing the relay ends all of them, and a wake-up ends the wait for rows. */
final class Pauses {
    private final Semaphore wake = new Semaphore(0);
    private final CountDownLatch closed = new CountDownLatch(1);

    /** Waits after a failure or on standby. A wake-up meanwhile is kept for {@link #untilWoken}. */
    void backOff(Duration time) throws InterruptedException {
        var unused = closed.await(time.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Waits for rows. */
    void untilWoken(Duration time) throws InterruptedException {
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

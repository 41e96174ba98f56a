package dev.puri.tail;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The wish that a thread ends: it looks for it between two steps, and its pauses end with it. Thread-safe. */
public final class Stop {
    private final CountDownLatch asked = new CountDownLatch(1);

    /** Asks for it; once is enough. */
    public void ask() {
        asked.countDown();
    }

    /** Whether it was asked for. */
    public boolean isAsked() {
        return asked.getCount() == 0;
    }

    /** Pauses, and tells whether it was asked for meanwhile. Who is interrupted is told so too, and stays interrupted. */
    public boolean isAskedWithin(Duration time) {
        try {
            return asked.await(time.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }
}

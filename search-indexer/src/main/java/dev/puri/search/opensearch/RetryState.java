package dev.puri.search.opensearch;

import dev.puri.search.index.IndexUnavailableException;
import java.io.IOException;
import java.time.Duration;
import java.util.function.Supplier;

/** How long and how often one thing is tried: with a pause between that doubles. */
final class RetryState {
    private static final long FIRST_PAUSE_MILLIS = 100;
    private static final long LONGEST_PAUSE_MILLIS = 5_000;

    private final long deadline;
    private int triesLeft;
    private long pauseMillis = FIRST_PAUSE_MILLIS;

    /**
     * @param within all tries and pauses together
     * @param tries at most
     */
    RetryState(Duration within, int tries) {
        deadline = System.nanoTime() + within.toNanos();
        triesLeft = tries;
    }

    /** What is left of the time, more than nothing. */
    Duration left() {
        return Duration.ofNanos(Math.max(1_000_000, deadline - System.nanoTime()));
    }

    /**
     * Waits until it may be tried again.
     *
     * @param why what went wrong, for the message
     * @throws IndexUnavailableException when it was tried often or long enough
     */
    void pause(Supplier<String> why, Exception cause) throws IndexUnavailableException {
        triesLeft--;
        if (triesLeft <= 0 || System.nanoTime() + pauseMillis * 1_000_000 >= deadline) {
            throw new IndexUnavailableException(why.get(), cause);
        }
        try {
            Thread.sleep(pauseMillis);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
        pauseMillis = Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS);
    }

    /** The same where no exception told of it. */
    void pause(Supplier<String> why) throws IndexUnavailableException {
        pause(why, new IOException("the cluster said so"));
    }

    static IndexUnavailableException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new IndexUnavailableException("interrupted while OpenSearch was asked", e);
    }
}

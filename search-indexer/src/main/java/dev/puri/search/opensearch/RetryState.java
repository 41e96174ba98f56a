package dev.puri.search.opensearch;

import dev.puri.search.index.IndexUnavailableException;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The retries of one request: a deadline, a number of attempts, and a back-off that doubles. */
final class RetryState {
    private static final long FIRST_BACK_OFF_MILLIS = 100;
    private static final long MAX_BACK_OFF_MILLIS = 5_000;

    private final long deadlineNanos;
    private int attemptsLeft;
    private long backOffMillis = FIRST_BACK_OFF_MILLIS;

    /**
     * Starts the time of a request.
     *
     * @param timeout for all attempts and pauses together
     * @param maxAttempts number of attempts, the first one included
     */
    RetryState(Duration timeout, int maxAttempts) {
        deadlineNanos = System.nanoTime() + timeout.toNanos();
        attemptsLeft = maxAttempts;
    }

    /** Returns the time until the deadline, at least a millisecond. */
    Duration remaining() {
        return Duration.ofNanos(Math.max(1_000_000, deadlineNanos - System.nanoTime()));
    }

    /**
     * Waits before the next attempt.
     *
     * @param failure the message of the exception
     * @param cause the failure of the last attempt; null if the cluster reported it
     * @throws IndexUnavailableException if no attempt is left, or if the pause would end after the deadline
     */
    void backOff(Supplier<String> failure, @Nullable Exception cause) throws IndexUnavailableException {
        attemptsLeft--;
        if (attemptsLeft <= 0 || System.nanoTime() + backOffMillis * 1_000_000 >= deadlineNanos) {
            throw cause == null
                    ? new IndexUnavailableException(failure.get())
                    : new IndexUnavailableException(failure.get(), cause);
        }
        try {
            Thread.sleep(backOffMillis);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
        backOffMillis = Math.min(2 * backOffMillis, MAX_BACK_OFF_MILLIS);
    }

    /** Waits before the next attempt after the cluster has reported a failure. */
    void backOff(Supplier<String> failure) throws IndexUnavailableException {
        backOff(failure, null);
    }

    static IndexUnavailableException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new IndexUnavailableException("interrupted during a request to OpenSearch", e);
    }
}

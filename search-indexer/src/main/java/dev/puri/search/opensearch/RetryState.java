package dev.puri.search.opensearch;

import dev.puri.search.index.IndexUnavailableException;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The state of one request's retries: the deadline, the remaining attempts, and the next back-off, which doubles. */
final class RetryState {
    private static final long FIRST_BACK_OFF_MILLIS = 100;
    private static final long MAX_BACK_OFF_MILLIS = 5_000;

    private final long deadlineNanos;
    private int remainingAttempts;
    private int attempts;
    private long backOffMillis = FIRST_BACK_OFF_MILLIS;

    /**
     * Creates the state and starts the timeout.
     *
     * @param timeout time limit of all attempts and back-offs together
     * @param maxAttempts maximum number of attempts, including the first attempt
     */
    RetryState(Duration timeout, int maxAttempts) {
        deadlineNanos = System.nanoTime() + timeout.toNanos();
        remainingAttempts = maxAttempts;
    }

    /**
     * Starts an attempt and returns its time limit, at least one millisecond. While a node is left that was not tried,
     * the limit is half of the remaining time, so that a node that does not answer leaves time for the others.
     */
    Duration attemptTime(int nodes) {
        long remaining = deadlineNanos - System.nanoTime();
        attempts++;
        boolean isLast = attempts >= nodes || remainingAttempts == 1;
        return Duration.ofNanos(Math.max(1_000_000, isLast ? remaining : remaining / 2));
    }

    /**
     * Waits before the next attempt.
     *
     * @param failure the message of the exception if there is no next attempt
     * @param cause the exception of the last attempt; null if the cluster reported the failure in a response
     * @throws IndexUnavailableException if no attempt remains, or if the back-off would end after the deadline
     */
    void backOff(Supplier<String> failure, @Nullable Exception cause) throws IndexUnavailableException {
        remainingAttempts--;
        if (remainingAttempts <= 0 || System.nanoTime() + backOffMillis * 1_000_000 >= deadlineNanos) {
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

    /** Waits before the next attempt, after the cluster has reported a failure in a response. */
    void backOff(Supplier<String> failure) throws IndexUnavailableException {
        backOff(failure, null);
    }

    /** Sets the thread's interrupt flag again and returns the exception to throw. */
    static IndexUnavailableException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new IndexUnavailableException("interrupted during a request to OpenSearch", e);
    }
}

package dev.puri.search;

import dev.puri.projection.Backoff;
import dev.puri.projection.RetryPolicy;
import dev.puri.search.index.IndexStore;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.SearchIndex;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A queue of indices to delete, because another index has replaced them or they can no longer be updated. Each index is
 * deleted once nobody reads it. Not thread-safe.
 */
final class DeletionQueue {
    private static final Logger log = LoggerFactory.getLogger(DeletionQueue.class);
    private static final RetryPolicy RETRY_POLICY = RetryPolicy.fixed(Duration.ofSeconds(10));
    private static final Duration POLL_INTERVAL = Duration.ofMillis(2);

    private final Deque<ServingIndex> indices = new ArrayDeque<>();
    private final Backoff backoff = new Backoff(RETRY_POLICY);

    /** Adds an index. From now on, no reader can acquire it. */
    void add(ServingIndex index) {
        index.refuseReaders();
        indices.add(index);
    }

    /**
     * Deletes the index that was added first, if nobody reads it.
     *
     * @param isBusy whether something other than a reader still uses an index
     */
    void deleteOldest(IndexStore store, Predicate<SearchIndex> isBusy) {
        ServingIndex oldest = indices.peek();
        if (oldest == null || !oldest.isDrained() || !backoff.isDue() || isBusy.test(oldest.index())) {
            return;
        }
        try {
            store.drop(oldest.index());
            indices.remove();
        } catch (IndexUnavailableException e) {
            log.warn("Could not delete an unused index; will retry: {}", e.getMessage());
            backoff.delay();
        }
    }

    /**
     * Waits, up to the timeout, until nobody reads the indices. Then empties the queue; the engine deletes the indices
     * when it is opened again.
     */
    void awaitReaders(Duration timeout) {
        long deadlineNanos = System.nanoTime() + timeout.toNanos();
        while (indices.stream().anyMatch(each -> !each.isDrained()) && System.nanoTime() - deadlineNanos < 0) {
            LockSupport.parkNanos(POLL_INTERVAL.toNanos());
        }
        indices.clear();
    }
}

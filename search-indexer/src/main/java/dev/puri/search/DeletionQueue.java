package dev.puri.search;

import dev.puri.search.index.IndexStore;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.SearchIndex;
import dev.puri.tail.Backoff;
import dev.puri.tail.RetryPolicy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Indices that await their deletion, because another one has replaced them or they cannot be fed any more. Each is
 * deleted once nobody reads it. Used by one thread.
 */
final class DeletionQueue {
    private static final Logger log = LoggerFactory.getLogger(DeletionQueue.class);
    private static final RetryPolicy RETRY_POLICY = RetryPolicy.fixed(Duration.ofSeconds(10));
    private static final Duration POLL = Duration.ofMillis(2);

    private final Deque<ServingIndex> waiting = new ArrayDeque<>();
    private final Backoff backoff = new Backoff(RETRY_POLICY);

    /** Adds an index, which nobody can acquire from here on. */
    void add(ServingIndex index) {
        index.refuseReaders();
        waiting.add(index);
    }

    /**
     * Deletes the oldest index if nobody uses it.
     *
     * @param isBusy whether an index must not be deleted yet for another reason
     */
    void deleteOldest(IndexStore home, Predicate<SearchIndex> isBusy) {
        ServingIndex oldest = waiting.peek();
        if (oldest == null || !oldest.isUnused() || !backoff.isDue() || isBusy.test(oldest.index())) {
            return;
        }
        try {
            home.drop(oldest.index());
            waiting.remove();
        } catch (IndexUnavailableException e) {
            log.warn("An index that was replaced could not be deleted, which will be tried again: {}", e.getMessage());
            backoff.delay();
        }
    }

    /**
     * Waits until nobody reads any of the indices, at most that long, and forgets all of them. The next one to open the
     * engine finds and deletes them.
     */
    void awaitReaders(Duration timeout) {
        long end = System.nanoTime() + timeout.toNanos();
        while (waiting.stream().anyMatch(each -> !each.isUnused()) && System.nanoTime() - end < 0) {
            LockSupport.parkNanos(POLL.toNanos());
        }
        waiting.clear();
    }
}

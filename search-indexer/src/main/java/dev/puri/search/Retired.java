package dev.puri.search;

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
 * Indices that another one has taken the place of, or that cannot be gone on with: dropped when everybody has
 * left them. Used by one thread.
 */
final class Retired {
    private static final Logger log = LoggerFactory.getLogger(Retired.class);
    private static final Duration AGAIN = Duration.ofSeconds(10);
    private static final Duration LOOK = Duration.ofMillis(2);

    private final Deque<Served> all = new ArrayDeque<>();
    private long againAt = System.nanoTime();

    /** Lets nobody into it any more. */
    void add(Served served) {
        served.retire();
        all.add(served);
    }

    /**
     * Drops the oldest, if nobody needs it.
     *
     * @param isBusy whether an index must not be dropped yet
     */
    void drop(IndexStore home, Predicate<SearchIndex> isBusy) {
        Served oldest = all.peek();
        if (oldest == null || !oldest.isIdle() || System.nanoTime() - againAt < 0 || isBusy.test(oldest.index())) {
            return;
        }
        try {
            home.drop(oldest.index());
            all.remove();
        } catch (IndexUnavailableException e) {
            log.warn("An index that does not answer any more is dropped later: {}", e.getMessage());
            againAt = System.nanoTime() + AGAIN.toNanos();
        }
    }

    /** Waits a while for those who are in, and forgets them all: what is left is found when it is opened anew. */
    void leave(Duration patience) {
        long end = System.nanoTime() + patience.toNanos();
        while (all.stream().anyMatch(each -> !each.isIdle()) && System.nanoTime() - end < 0) {
            LockSupport.parkNanos(LOOK.toNanos());
        }
        all.clear();
    }
}

package dev.puri.search;

import dev.puri.search.index.SearchIndex;
import dev.puri.tail.ObservationTime;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** An index that answers, and how many read it now: it may not be closed under them. Thread-safe. */
final class Served {
    private static final int RETIRED = Integer.MIN_VALUE / 2;

    private final SearchIndex index;
    private final AtomicInteger readers = new AtomicInteger();
    private final ObservationTime opened;
    private volatile @Nullable Feed feed;

    /**
     * @param opened a moment up to which it had all
     */
    Served(SearchIndex index, ObservationTime opened) {
        this.index = index;
        this.opened = opened;
    }

    /** Begins to read; false when the index is going to be closed, and another one answers. */
    boolean enter() {
        if (readers.incrementAndGet() > 0) {
            return true;
        }
        readers.decrementAndGet();
        return false;
    }

    /** Ends what {@link #enter} began. */
    void leave() {
        readers.decrementAndGet();
    }

    /** Lets nobody in any more. */
    void retire() {
        readers.addAndGet(RETIRED);
    }

    /** Whether it is retired and everybody has left. */
    boolean isIdle() {
        return readers.get() == RETIRED;
    }

    SearchIndex index() {
        return index;
    }

    /** It is fed from here on. */
    void fedBy(Feed by) {
        feed = by;
    }

    /** What feeds it; null when nothing does. */
    @Nullable
    Feed feed() {
        return feed;
    }

    /** The last moment of which it is known that readers see all. */
    ObservationTime asOf() {
        Feed by = feed;
        return by == null ? opened : by.asOf();
    }
}

package dev.puri.search;

import dev.puri.search.index.SearchIndex;
import dev.puri.tail.ObservationTime;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** An index that readers use, with a reference count: it is not deleted while anybody reads it. Thread-safe. */
final class ServingIndex {
    /** Added to the reference count, so that it stays negative however many readers there are. */
    private static final int NO_MORE_READERS = Integer.MIN_VALUE / 2;

    private final SearchIndex index;
    private final AtomicInteger references = new AtomicInteger();
    private final ObservationTime completeAt;
    private volatile @Nullable IndexFeeder feed;

    /**
     * @param completeAt a time at which the index had everything, as long as nothing feeds it
     */
    ServingIndex(SearchIndex index, ObservationTime completeAt) {
        this.index = index;
        this.completeAt = completeAt;
    }

    /** Raises the reference count; false when the index awaits its deletion, and another one serves. */
    boolean acquire() {
        if (references.incrementAndGet() > 0) {
            return true;
        }
        references.decrementAndGet();
        return false;
    }

    /** Lowers the reference count that {@link #acquire} raised. */
    void release() {
        references.decrementAndGet();
    }

    /** Lets nobody acquire it from here on; once. */
    void refuseReaders() {
        references.addAndGet(NO_MORE_READERS);
    }

    /** Whether nobody reads it and nobody can acquire it. */
    boolean isUnused() {
        return references.get() == NO_MORE_READERS;
    }

    SearchIndex index() {
        return index;
    }

    /** Sets the feeder that feeds it from here on. */
    void feedBy(IndexFeeder feeder) {
        feed = feeder;
    }

    /** The feeder that feeds it; null when none does. */
    @Nullable
    IndexFeeder feed() {
        return feed;
    }

    /** The last time at which readers of the index are known to have seen everything. */
    ObservationTime asOf() {
        IndexFeeder feeder = feed;
        return feeder == null ? completeAt : feeder.asOf();
    }
}

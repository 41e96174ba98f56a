package dev.puri.search;

import dev.puri.projection.ObservationTime;
import dev.puri.search.index.SearchIndex;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** An index with a reference count, so that the index is not deleted while searches read it. Thread-safe. */
final class ServingIndex implements AutoCloseable {
    /** Added to the reference count of an index that awaits its deletion, so that the count stays negative. */
    private static final int NO_MORE_READERS = Integer.MIN_VALUE / 2;

    private final SearchIndex index;
    private final AtomicInteger references = new AtomicInteger();
    private final ObservationTime firstCompleteUpTo;
    private volatile @Nullable IndexFeeder feeder;

    /**
     * @param firstCompleteUpTo time up to which the index contained all records; used until the index has a feeder
     */
    ServingIndex(SearchIndex index, ObservationTime firstCompleteUpTo) {
        this.index = index;
        this.firstCompleteUpTo = firstCompleteUpTo;
    }

    /**
     * Raises the reference count. Returns false if the index awaits its deletion; the caller then tries the current
     * one.
     */
    boolean acquire() {
        if (references.incrementAndGet() > 0) {
            return true;
        }
        references.decrementAndGet();
        return false;
    }

    /** Lowers the reference count that {@link #acquire} raised. Does not close the index. */
    @Override
    public void close() {
        references.decrementAndGet();
    }

    /** Prevents readers from acquiring the index from now on. May be called once. */
    void refuseReaders() {
        references.addAndGet(NO_MORE_READERS);
    }

    /** Whether nobody reads the index and nobody can acquire it. */
    boolean isDrained() {
        return references.get() == NO_MORE_READERS;
    }

    SearchIndex index() {
        return index;
    }

    /** Sets the feeder that updates the index from now on. */
    void setFeeder(IndexFeeder newFeeder) {
        feeder = newFeeder;
    }

    /** Returns the feeder that updates the index; null before it has one. */
    @Nullable
    IndexFeeder feeder() {
        return feeder;
    }

    /** Returns a time up to which the index contains all records. */
    ObservationTime completeUpTo() {
        IndexFeeder current = feeder;
        return current == null ? firstCompleteUpTo : current.completeUpTo();
    }
}

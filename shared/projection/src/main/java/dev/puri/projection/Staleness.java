package dev.puri.projection;

import java.time.Duration;
import java.time.InstantSource;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Tells how stale local state is, from the end offsets of its topics and the offsets that the state's reader has
 * reached:
 *
 * <pre>
 * 12:00:00  the brokers report the end offset 70, the reader is at 60: the end offset is pending
 * 12:00:02  the reader is at 70: the state has all records that were committed before 12:00:00
 * </pre>
 *
 * Staleness counts from the time of the request for the end offsets. Pending end offsets stay pending when newer ones
 * are observed, because during steady writes a reader may never reach the newest ones.
 *
 * <p>Thread-safe. Only {@link #observe} and {@link #advance} read the offsets of the reader, in the calling thread.
 *
 * @param <E> the end offsets of the topics from which the state is built, such as {@link TopicEnds}
 */
public final class Staleness<E> {
    private final Function<E, ObservationTime> requestTime;
    private final Predicate<E> isReached;
    private final InstantSource clock;

    /** The end offsets that were observed last; null before the first. Guarded by this. */
    private @Nullable E latest;

    /** The earliest end offsets that the reader has not reached; null if there are none. Guarded by this. */
    private @Nullable E pending;

    private volatile @Nullable ObservationTime completeUpTo;

    /**
     * @param requestTime returns when the end offsets were requested
     * @param isReached whether the state's reader has reached the end offsets
     */
    public Staleness(Function<E, ObservationTime> requestTime, Predicate<E> isReached, InstantSource clock) {
        this.requestTime = requestTime;
        this.isReached = isReached;
        this.clock = clock;
    }

    /** Notes end offsets that the brokers reported. The reader may not have reached them yet. */
    public synchronized void observe(E ends) {
        if (!ends.equals(latest)) {
            latest = ends;
            if (pending == null) {
                pending = ends;
            }
        }
        advance();
    }

    /**
     * Compares the pending end offsets with the reader's offsets. Must be called after the reader has advanced; {@link
     * #observe} does the same.
     *
     * @return whether the reader has reached the end offsets that were observed last; false before the first
     */
    public synchronized boolean advance() {
        E newest = latest;
        E earliest = pending;
        if (newest == null || earliest == null) {
            return newest != null;
        }
        // The newest first: if the topic was created again, its end offsets may be smaller than the pending ones.
        if (isReached.test(newest)) {
            completeUpTo = requestTime.apply(newest);
            pending = null;
            return true;
        }
        if (isReached.test(earliest)) {
            completeUpTo = requestTime.apply(earliest);
            pending = newest;
        }
        return false;
    }

    /**
     * Notes that the state has all records that were committed before a time. The caller knows this without a
     * comparison of offsets: it opened stored state, or filled the state up to the end offsets of that time.
     */
    public void noteComplete(ObservationTime at) {
        completeUpTo = at;
    }

    /** Forgets all observations, because the state is built from the beginning again. */
    public synchronized void reset() {
        latest = null;
        pending = null;
        completeUpTo = null;
    }

    /** Returns whether the state was complete at least once since the last reset. */
    public boolean hasCaughtUp() {
        return completeUpTo != null;
    }

    /**
     * Returns the latest time of which this is known: the state has all records that were committed before it. Null if
     * the state was never complete.
     */
    public @Nullable ObservationTime completeUpTo() {
        return completeUpTo;
    }

    /** Returns the time since {@link #completeUpTo}; null if the state was never complete. */
    public @Nullable Duration duration() {
        ObservationTime time = completeUpTo;
        return time == null ? null : time.age(clock);
    }

    /** Returns {@link #duration} in seconds, for metrics; NaN if the state was never complete. */
    public double seconds() {
        Duration duration = duration();
        return duration == null ? Double.NaN : duration.toMillis() / 1000.0;
    }
}

package dev.puri.projection;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Reads a topic in the background, from its beginning or from its last records on, and passes each record to a handler.
 * Reports how stale the handler's data is.
 */
public interface Follower extends AutoCloseable {
    /** Returns whether the handler has got all records that the topic had when reading started. */
    boolean hasCaughtUp();

    /**
     * Returns the time since the handler was last known to have all records of the topic; null before the first time.
     */
    @Nullable
    Duration staleness();

    /** Returns why the topic cannot be read now, as text for people; null if it can. */
    @Nullable
    String failureReason();

    /** Stops reading. */
    @Override
    void close();
}

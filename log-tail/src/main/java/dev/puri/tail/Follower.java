package dev.puri.tail;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Reads a topic in the background, from its beginning or its last records on, and reports how fresh its reader is. */
public interface Follower extends AutoCloseable {
    /** Whether the reader has had all records that the topic had when this reading began. */
    boolean hasCaughtUp();

    /** How long ago the reader was known to have all records of the topic; null before it ever was. */
    @Nullable
    Duration staleness();

    /** Why the topic cannot be followed now, for people; null when it can. */
    @Nullable
    String trouble();

    /** Stops reading. */
    @Override
    void close();
}

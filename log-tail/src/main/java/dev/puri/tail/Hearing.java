package dev.puri.tail;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A topic that is followed, and how well. */
interface Hearing extends AutoCloseable {
    /** Whether all was read once that the topic had when the reading began, this time. */
    boolean hasCaughtUp();

    /** How long ago it was known that all was read which the topic had; null when it never was. */
    @Nullable
    Duration age();

    /** Why it is not followed, for people; null when it is. */
    @Nullable
    String trouble();

    /** Ends the following. */
    @Override
    void close();
}

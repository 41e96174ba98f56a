package dev.puri.tail;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** State that is built from the records of one topic. Its freshness is that of the follower that reads the topic. */
public interface FollowedTopic extends Follower {
    /** Returns the follower that reads the topic. */
    Follower follower();

    @Override
    default boolean hasCaughtUp() {
        return follower().hasCaughtUp();
    }

    @Override
    default @Nullable Duration staleness() {
        return follower().staleness();
    }

    @Override
    default @Nullable String failureReason() {
        return follower().failureReason();
    }

    /** Stops reading the topic. Look-ups still find the records that were read. */
    @Override
    default void close() {
        follower().close();
    }
}

package dev.puri.tail;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The state of a topic that a follower reads. It is as fresh as its follower. */
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
    default @Nullable String trouble() {
        return follower().trouble();
    }

    /** Stops following. Look-ups still find the records that were read. */
    @Override
    default void close() {
        follower().close();
    }
}

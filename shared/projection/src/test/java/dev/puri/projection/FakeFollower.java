package dev.puri.projection;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A follower whose staleness a test sets. */
final class FakeFollower implements Follower {
    @Nullable
    Duration staleness;

    @Override
    public boolean hasCaughtUp() {
        return staleness != null;
    }

    @Override
    public @Nullable Duration staleness() {
        return staleness;
    }

    @Override
    public @Nullable String failureReason() {
        return null;
    }

    @Override
    public void close() {}
}

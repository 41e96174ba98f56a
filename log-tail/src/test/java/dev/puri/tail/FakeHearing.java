package dev.puri.tail;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A topic that is heard as a test says. */
final class FakeHearing implements Hearing {
    @Nullable
    Duration age;

    @Override
    public boolean hasCaughtUp() {
        return age != null;
    }

    @Override
    public @Nullable Duration age() {
        return age;
    }

    @Override
    public @Nullable String trouble() {
        return null;
    }

    @Override
    public void close() {}
}

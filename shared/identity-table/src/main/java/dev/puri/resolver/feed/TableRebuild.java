package dev.puri.resolver.feed;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The rebuild of the table that an operator requested last: none, running or done. A rebuild that fails is repeated
 * until it is done. Thread-safe.
 */
final class TableRebuild {
    private final InstantSource clock;
    private @Nullable Instant startedAt;
    private @Nullable Instant endedAt;

    TableRebuild(InstantSource clock) {
        this.clock = clock;
    }

    private enum State {
        NONE,
        RUNNING,
        DONE
    }

    private State state() {
        if (startedAt == null) {
            return State.NONE;
        }
        return endedAt == null ? State.RUNNING : State.DONE;
    }

    /** Begins a rebuild. Returns false if one is running. */
    synchronized boolean begin() {
        if (state() == State.RUNNING) {
            return false;
        }
        startedAt = clock.instant();
        endedAt = null;
        return true;
    }

    synchronized boolean isRunning() {
        return state() == State.RUNNING;
    }

    /** Ends the rebuild if one is running. */
    synchronized void complete() {
        if (state() == State.RUNNING) {
            endedAt = clock.instant();
        }
    }

    /** Returns the state and the duration as members of a JSON object. */
    synchronized Map<String, Object> toJson() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("state", state().name().toLowerCase(Locale.ROOT));
        Instant start = startedAt;
        if (start != null) {
            Instant end = endedAt == null ? clock.instant() : endedAt;
            json.put("seconds", Duration.between(start, end).toMillis() / 1000.0);
        }
        return json;
    }
}

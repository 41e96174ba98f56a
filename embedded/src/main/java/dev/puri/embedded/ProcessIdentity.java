package dev.puri.embedded;

import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Identifies a process across restarts, for a file. The pid alone is not sufficient, because it may be reused. The text
 * is pid, space and start time: {@code 4711 2026-02-03T04:05:06Z}.
 *
 * @param started null if the platform does not report it
 */
record ProcessIdentity(long pid, @Nullable Instant started) {
    /** Linux reports the start relative to the boot time, which changes when the clock is set. */
    private static final Duration CLOCK_STEP = Duration.ofSeconds(10);

    static ProcessIdentity of(ProcessHandle process) {
        return new ProcessIdentity(process.pid(), process.info().startInstant().orElse(null));
    }

    /** Parses {@link #toString}; empty for any other text, such as an incomplete file. */
    static Optional<ProcessIdentity> parse(String text) {
        String[] parts = text.strip().split(" ", -1);
        try {
            return Optional.of(
                    new ProcessIdentity(Long.parseLong(parts[0]), parts.length == 1 ? null : Instant.parse(parts[1])));
        } catch (NumberFormatException | DateTimeParseException e) {
            return Optional.empty();
        }
    }

    /** Whether both are the same process; start times may differ by seconds, because the clock may have been set. */
    boolean isSameAs(ProcessIdentity other) {
        if (pid != other.pid || (started == null) != (other.started == null)) {
            return false;
        }
        return started == null
                || other.started == null
                || Duration.between(started, other.started).abs().compareTo(CLOCK_STEP) <= 0;
    }

    @Override
    public String toString() {
        return started == null ? Long.toString(pid) : pid + " " + started;
    }
}

package dev.puri.embedded;

import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Identifies a process in a file for a later run, by when its number may be reused. The text is the number, a space and the time of its
 * start: {@code 4711 2026-02-03T04:05:06Z}.
 *
 * @param started null if the platform does not provide it
 */
record ProcessIdentity(long pid, @Nullable Instant started) {
    /** Tolerance of start times: Linux counts them from the boot, whose time changes when the clock is set. */
    private static final Duration CLOCK_STEP = Duration.ofSeconds(10);

    static ProcessIdentity of(ProcessHandle process) {
        return new ProcessIdentity(process.pid(), process.info().startInstant().orElse(null));
    }

    /** Parses the text of {@link #toString}; empty for anything else, such as a file that was written in part. */
    static Optional<ProcessIdentity> parse(String text) {
        String[] parts = text.strip().split(" ", -1);
        try {
            return Optional.of(
                    new ProcessIdentity(Long.parseLong(parts[0]), parts.length == 1 ? null : Instant.parse(parts[1])));
        } catch (NumberFormatException | DateTimeParseException e) {
            return Optional.empty();
        }
    }

    /** Whether both name the same process; start times may differ by seconds, because the system clock may be set. */
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

package dev.puri.embedded;

import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A process, as a file keeps it for a later run; its number alone may be another's by then. The text is the number, a
 * space and the moment of its start: {@code 4711 2026-02-03T04:05:06Z}.
 *
 * @param started null where the platform does not tell
 */
record ProcessIdentity(long pid, @Nullable Instant started) {
    /** Linux counts the start from the boot, whose moment moves when the clock is set. */
    private static final Duration CLOCK_STEP = Duration.ofSeconds(10);

    static ProcessIdentity of(ProcessHandle process) {
        return new ProcessIdentity(process.pid(), process.info().startInstant().orElse(null));
    }

    /** Reads what {@link #toString} wrote; empty for anything else, such as a file that was written in part. */
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

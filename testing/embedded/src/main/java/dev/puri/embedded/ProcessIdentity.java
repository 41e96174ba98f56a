package dev.puri.embedded;

import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Identifies a process by its pid and start time. The pid alone is not sufficient, because the operating system reuses
 * pids. The text form, which is written to a file, is pid, space and start time: {@code 4711 2026-02-03T04:05:06Z}.
 *
 * @param startedAt null if the platform does not report the start time
 */
record ProcessIdentity(long pid, @Nullable Instant startedAt) {
    /**
     * Maximum difference between two readings of a process's start time. Linux computes the start time from the boot
     * time, which changes when the clock is set.
     */
    private static final Duration CLOCK_TOLERANCE = Duration.ofSeconds(10);

    static ProcessIdentity of(ProcessHandle process) {
        return new ProcessIdentity(process.pid(), process.info().startInstant().orElse(null));
    }

    /** Parses the text form. Returns an empty result if the pid or the start time is malformed. */
    static Optional<ProcessIdentity> parse(String text) {
        String[] parts = text.strip().split(" ", -1);
        try {
            return Optional.of(
                    new ProcessIdentity(Long.parseLong(parts[0]), parts.length == 1 ? null : Instant.parse(parts[1])));
        } catch (NumberFormatException | DateTimeParseException e) {
            return Optional.empty();
        }
    }

    /** Whether both identify the same process. Start times may differ slightly. */
    boolean isSameAs(ProcessIdentity other) {
        if (pid != other.pid || (startedAt == null) != (other.startedAt == null)) {
            return false;
        }
        return startedAt == null
                || other.startedAt == null
                || Duration.between(startedAt, other.startedAt).abs().compareTo(CLOCK_TOLERANCE) <= 0;
    }

    @Override
    public String toString() {
        return startedAt == null ? Long.toString(pid) : pid + " " + startedAt;
    }
}

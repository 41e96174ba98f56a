package dev.puri.tail;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/**
 * When something was observed, by the monotonic and by the wall clock, since neither can be trusted alone.
 *
 * @param nanos of {@link System#nanoTime}, which does not advance while a machine is suspended
 * @param wall by the wall clock, which may be set back
 */
public record ObservationTime(long nanos, Instant wall) {
    /** The current time. */
    public static ObservationTime now(InstantSource clock) {
        return new ObservationTime(System.nanoTime(), clock.instant());
    }

    /** How long ago it was, by the clock that shows the longer time; never negative. */
    public Duration age(InstantSource clock) {
        Duration ticked = Duration.ofNanos(System.nanoTime() - nanos);
        Duration elapsed = Duration.between(wall, clock.instant());
        return ticked.compareTo(elapsed) > 0 ? ticked : elapsed;
    }
}

package dev.puri.tail;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/**
 * When something was known, by two clocks, for neither can be trusted alone.
 *
 * @param nanos of {@link System#nanoTime}, which stands still while a machine is suspended
 * @param wall by the wall clock, which may be set back
 */
public record Moment(long nanos, Instant wall) {
    /** The moment that it is. */
    public static Moment now(InstantSource clock) {
        return new Moment(System.nanoTime(), clock.instant());
    }

    /** How long ago it was, by the clock that says more; never negative. */
    public Duration age(InstantSource clock) {
        Duration ticked = Duration.ofNanos(System.nanoTime() - nanos);
        Duration told = Duration.between(wall, clock.instant());
        return ticked.compareTo(told) > 0 ? ticked : told;
    }
}

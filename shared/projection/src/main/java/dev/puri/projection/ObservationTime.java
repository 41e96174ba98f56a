package dev.puri.projection;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/**
 * The time of an observation by two clocks, the monotonic one and the wall clock, since neither can be trusted alone.
 *
 * @param nanos by {@link System#nanoTime}, which does not advance while a machine is suspended
 * @param wall by the wall clock, which may be set back
 */
public record ObservationTime(long nanos, Instant wall) {
    /** Returns the current time. */
    public static ObservationTime now(InstantSource clock) {
        return new ObservationTime(System.nanoTime(), clock.instant());
    }

    /** Returns the time since the observation, by the clock that shows the longer time; never negative. */
    public Duration age(InstantSource clock) {
        Duration byMonotonicClock = Duration.ofNanos(System.nanoTime() - nanos);
        Duration byWallClock = Duration.between(wall, clock.instant());
        return byMonotonicClock.compareTo(byWallClock) > 0 ? byMonotonicClock : byWallClock;
    }
}

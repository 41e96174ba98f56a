package dev.puri.projection;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;

final class ObservationTimeTest {
    private static final Instant THEN = Instant.parse("2026-01-01T00:00:00Z");
    private static final Duration TICKED = Duration.ofSeconds(42);

    private final ObservationTime time = new ObservationTime(System.nanoTime() - TICKED.toNanos(), THEN);

    @Test
    void aWallClockThatIsSetBackMakesNothingYounger() {
        InstantSource setBack = InstantSource.fixed(THEN.minusSeconds(3600));

        assertThat(time.age(setBack)).isBetween(TICKED, TICKED.plusSeconds(60));
    }

    @Test
    void timeThatAMachineWasSuspendedCounts() {
        InstantSource woken = InstantSource.fixed(THEN.plusSeconds(3600));

        assertThat(time.age(woken)).isEqualTo(Duration.ofHours(1));
    }
}

package dev.puri.projection;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class StalenessTest {
    private static final Instant START = Instant.parse("2026-11-20T10:00:00Z");

    /** Later than every observation, by more than a test takes. */
    private static final Instant NOW = START.plus(Duration.ofHours(5));

    private static final long NANOS = System.nanoTime();

    private long nextOffset;
    private final Staleness<EndOffsets> staleness = new Staleness<>(
            EndOffsets::at, ends -> ends.isReachedBy(partition -> nextOffset), InstantSource.fixed(NOW));

    @Test
    void isUnknownBeforeTheFirstEndOffsetsAreReached() {
        assertThat(staleness.advance()).isFalse();
        staleness.observe(ends(0, 7));
        nextOffset = 6;

        assertThat(staleness.advance()).isFalse();
        assertThat(staleness.hasCaughtUp()).isFalse();
        assertThat(staleness.completeUpTo()).isNull();
        assertThat(staleness.duration()).isNull();
        assertThat(staleness.seconds()).isNaN();
    }

    @Test
    void countsFromTheRequestOfTheReachedEndOffsets() {
        staleness.observe(ends(0, 7));
        nextOffset = 7;

        assertThat(staleness.advance()).isTrue();
        assertThat(staleness.hasCaughtUp()).isTrue();
        assertThat(staleness.completeUpTo()).isEqualTo(at(0));
        assertThat(staleness.duration()).isEqualTo(Duration.ofHours(5));
        assertThat(staleness.seconds()).isEqualTo(5 * 3600.0);
    }

    @Test
    void endOffsetsThatAreReachedAlreadyCountAtOnce() {
        nextOffset = 9;

        staleness.observe(ends(0, 7));

        assertThat(staleness.completeUpTo()).isEqualTo(at(0));
    }

    @Test
    void newerEndOffsetsDoNotReplacePendingOnes() {
        staleness.observe(ends(0, 7));
        staleness.observe(ends(1, 20));
        staleness.observe(ends(2, 30));
        nextOffset = 15;

        assertThat(staleness.advance()).isFalse();
        assertThat(staleness.completeUpTo()).isEqualTo(at(0));
    }

    @Test
    void smallerEndOffsetsOfARecreatedTopicReplacePendingOnes() {
        staleness.observe(ends(0, 70));
        staleness.observe(ends(1, 5));
        nextOffset = 5;

        assertThat(staleness.advance()).isTrue();
        assertThat(staleness.completeUpTo()).isEqualTo(at(1));
    }

    @Test
    void theNewestEndOffsetsFollowPendingOnes() {
        staleness.observe(ends(0, 7));
        staleness.observe(ends(1, 20));
        staleness.observe(ends(2, 30));
        nextOffset = 7;
        assertThat(staleness.advance()).isFalse();
        nextOffset = 30;

        assertThat(staleness.advance()).isTrue();
        assertThat(staleness.completeUpTo()).isEqualTo(at(2));
    }

    @Test
    void theSameEndOffsetsMayBeObservedAgain() {
        EndOffsets ends = ends(0, 7);
        staleness.observe(ends);
        nextOffset = 7;
        staleness.observe(ends);
        nextOffset = 0;

        staleness.observe(ends);

        assertThat(staleness.advance()).isTrue();
        assertThat(staleness.completeUpTo()).isEqualTo(at(0));
    }

    @Test
    void storedStateIsAsStaleAsWhenItWasStored() {
        staleness.noteComplete(at(1));
        staleness.observe(ends(2, 7));

        assertThat(staleness.hasCaughtUp()).isTrue();
        assertThat(staleness.duration()).isEqualTo(Duration.ofHours(4));
    }

    @Test
    void aResetForgetsEverything() {
        staleness.observe(ends(0, 0));
        staleness.observe(ends(1, 7));

        staleness.reset();
        nextOffset = 7;

        assertThat(staleness.advance()).isFalse();
        assertThat(staleness.hasCaughtUp()).isFalse();
    }

    private static EndOffsets ends(int hour, long endOffset) {
        return new EndOffsets(Map.of(0, endOffset), at(hour));
    }

    private static ObservationTime at(int hour) {
        return new ObservationTime(NANOS, START.plus(Duration.ofHours(hour)));
    }
}

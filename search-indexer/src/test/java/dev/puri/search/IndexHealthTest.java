package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.projection.wait.OutcomeCache;
import dev.puri.projection.wait.Waiters;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;

/** The health of an indexer that has not started. */
final class IndexHealthTest {
    private Instant now = Instant.parse("2026-11-20T10:00:00Z");

    private IndexHealth health() {
        InstantSource clock = () -> now;
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        Indexer indexer = new Indexer(
                () -> {
                    throw new AssertionError("not started");
                },
                new EndOffsetMonitor(
                        topic -> {
                            throw new AssertionError("not started");
                        },
                        clock),
                new MemoryTopics()
                        .feederContext(
                                new OutcomeCache(meters),
                                new Waiters(1),
                                Duration.ofSeconds(1),
                                Duration.ofSeconds(1),
                                clock,
                                meters),
                new Indexer.Limits(10, Duration.ofSeconds(30), Duration.ofDays(1)),
                () -> null);
        return indexer.health();
    }

    @Test
    void isDownWithTheReasonBeforeAnIndexServes() {
        IndexHealth health = health();

        assertThat(health.isReady()).isFalse();
        assertThat(health.waitReason()).isEqualTo("the engine is being opened");
        assertThat(health.started().up()).isFalse();
        assertThat(health.ready().up()).isFalse();
        assertThat(health.ready().details())
                .containsEntry("reason", "the engine is being opened")
                .containsEntry("identities", 0L)
                .doesNotContainKeys("behind", "ageSeconds", "lastFailure");
        assertThat(health.lag()).isNull();
        assertThat(health.staleness()).isNull();
    }

    @Test
    void showsAFailureOfTheEngineForAMinute() {
        IndexHealth health = health();

        health.recordFailure("the disk is full");

        assertThat(health.ready().details()).containsEntry("lastFailure", "the disk is full");
        now = now.plusSeconds(61);
        assertThat(health.ready().details()).doesNotContainKey("lastFailure");
    }

    @Test
    void showsFailuresOfPurgesAndScrubsUntilTheyEnd() {
        IndexHealth health = health();
        health.purgeFailure().changeTo("the disk is full");
        health.scrubFailure().changeTo("a bug");

        assertThat(health.ready().details())
                .containsEntry("purgeFailure", "the disk is full")
                .containsEntry("scrubFailure", "a bug");

        health.purgeFailure().clear();
        health.scrubFailure().clear();

        assertThat(health.ready().details()).doesNotContainKeys("purgeFailure", "scrubFailure");
    }
}

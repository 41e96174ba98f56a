package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.projection.FailureState;
import dev.puri.projection.wait.OutcomeCache;
import dev.puri.projection.wait.Waiters;
import dev.puri.search.index.IndexCheckpoint;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Purges of an index of which an entry was erased. */
@Timeout(60)
final class PurgeSchedulerTest {
    private static final Duration FORGET_AFTER = Duration.ofHours(1);
    private static final Duration PURGE_TIMEOUT = Duration.ofSeconds(30);

    private final MemoryTopics topics = new MemoryTopics();
    private final MemoryIndex index = new MemoryIndex();
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private volatile Instant now = Instant.parse("2026-11-24T10:00:00Z");
    private final IndexFeeder.Context context = topics.feederContext(
            new OutcomeCache(meters), new Waiters(1), Duration.ZERO, Duration.ofHours(1), () -> now, meters);
    private final IndexFeeder feeder = new IndexFeeder(index, IndexCheckpoint.NONE, topics.source(() -> now), context);
    private final FailureState failure = new FailureState();
    private final PurgeScheduler purges = new PurgeScheduler(FORGET_AFTER, failure, () -> now, context.meters());

    @BeforeEach
    void erase() throws Exception {
        topics.write("music:tracks:1", 1, "One");
        topics.write("music:tracks:2", 2, "Two");
        stepFeeder();
        erase("music:tracks:1");
    }

    private void erase(String puri) throws Exception {
        topics.erase(puri);
        stepFeeder();
    }

    private void stepFeeder() throws Exception {
        feeder.step(topics.source(() -> now), Duration.ofDays(6), Duration.ZERO);
    }

    @AfterEach
    void close() {
        feeder.disconnect();
    }

    @Test
    void purgesAfterHalfOfTheTime() {
        now = now.plus(FORGET_AFTER.dividedBy(2)).minusSeconds(1);
        purges.step(feeder);
        assertThat(purges.isPurging(index)).isFalse();
        purges.awaitEnd(PURGE_TIMEOUT);
        assertThat(index.startedPurges()).isZero();

        failure.changeTo("the purge before failed");
        now = now.plusSeconds(1);
        purges.step(feeder);
        purges.awaitEnd(PURGE_TIMEOUT);

        assertThat(index.purges()).isEqualTo(1);
        assertThat(failure.reason()).isNull();
        assertThat(feeder.purgeNeededSince()).isNull();
    }

    @Test
    void anErasureDuringAPurgeNeedsAnotherPurge() throws Exception {
        CompletableFuture<Boolean> result = new CompletableFuture<>();
        index.setPurgeResult(result);
        now = now.plus(FORGET_AFTER);
        purges.step(feeder);
        assertThat(purges.isPurging(index)).isTrue();

        erase("music:tracks:2");
        result.complete(true);
        purges.awaitEnd(PURGE_TIMEOUT);

        assertThat(purges.isPurging(index)).isFalse();
        assertThat(feeder.purgeNeededSince()).isEqualTo(now);
    }

    @Test
    void aPurgeThatFailsWithAnyThrowableIsReportedAndStillNeededAndBacksOff() {
        index.setPurgeResult(CompletableFuture.completedFuture(false));
        Instant erasedAt = now;
        now = now.plus(FORGET_AFTER);
        purges.step(feeder);
        purges.awaitEnd(PURGE_TIMEOUT);
        assertThat(index.startedPurges()).isEqualTo(1);
        assertThat(feeder.purgeNeededSince()).isEqualTo(erasedAt);
        assertThat(failure.reason()).isEqualTo("java.lang.OutOfMemoryError: simulated");

        purges.step(feeder);

        assertThat(purges.isPurging(index)).as("the back-off takes 10 s").isFalse();
        assertThat(failure.reason()).isNotNull();
    }

    @Test
    void theFailureEndsWhenAnIndexWithoutErasuresReplacesTheIndex() {
        index.setPurgeResult(CompletableFuture.completedFuture(false));
        now = now.plus(FORGET_AFTER);
        purges.step(feeder);
        purges.awaitEnd(PURGE_TIMEOUT);
        assertThat(failure.reason()).isNotNull();

        purges.step(new IndexFeeder(new MemoryIndex(), IndexCheckpoint.NONE, topics.source(() -> now), context));

        assertThat(failure.reason()).isNull();
    }
}

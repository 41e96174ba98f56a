package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.projection.LifeCycle;
import dev.puri.projection.wait.OutcomeCache;
import dev.puri.projection.wait.Waiters;
import dev.puri.search.index.IndexCheckpoint;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Rebuilds beside a serving index, step by step. */
@Timeout(60)
final class IndexRebuildTest {
    private static final InstantSource CLOCK = InstantSource.fixed(Instant.parse("2026-11-24T10:00:00Z"));
    private static final Duration MAX_INDEX_AGE = Duration.ofDays(6);

    private final MemoryTopics topics = new MemoryTopics();
    private final MemoryStore store = new MemoryStore();
    private final LifeCycle<ServingIndex, IndexFeeder> lifeCycle = new LifeCycle<>("test");
    private final IndexFeeder.Context context = context();
    private IndexRebuild rebuild = new IndexRebuild(context, lifeCycle);
    private boolean isOutOfMemory;

    private IndexFeeder.Context context() {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        OutcomeCache outcomes = new OutcomeCache(meters);
        return new IndexFeeder.Context(
                this::consumer,
                topics.decoder(outcomes, meters),
                outcomes,
                new Waiters(1),
                Duration.ZERO,
                Duration.ofHours(1),
                CLOCK,
                new IndexMeters(meters));
    }

    private Consumer<byte[], byte[]> consumer() {
        if (isOutOfMemory) {
            throw new OutOfMemoryError("simulated");
        }
        return topics.consumer();
    }

    @BeforeEach
    void serve() throws Exception {
        topics.write("music:tracks:1", 1, "One");
        IndexFeeder feeder = new IndexFeeder(store.serving(), IndexCheckpoint.NONE, topics.source(CLOCK), context);
        lifeCycle.fill(feeder);
        while (!feeder.isComplete()) {
            feeder.step(topics.source(CLOCK), MAX_INDEX_AGE, Duration.ZERO);
        }
        lifeCycle.complete(new ServingIndex(store.serving(), feeder.completeUpTo()));
    }

    @AfterEach
    void disconnect() {
        Objects.requireNonNull(lifeCycle.feeder()).disconnect();
        rebuild.suspend();
    }

    private void step() {
        rebuild.step(store, topics.source(CLOCK), MAX_INDEX_AGE);
    }

    /** Steps until the condition is true; a step that fails is followed by a back-off. */
    private void stepUntil(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            step();
            Thread.onSpinWait();
        }
    }

    private IndexFeeder stepUntilRebuilt() {
        stepUntil(() -> rebuild.rebuiltFeeder() != null);
        return Objects.requireNonNull(rebuild.rebuiltFeeder());
    }

    private MemoryIndex unfinished() {
        return Objects.requireNonNull(store.unfinished());
    }

    @Test
    void nothingIsRebuiltWithoutAReason() {
        step();

        assertThat(store.unfinished()).isNull();
        assertThat(lifeCycle.state()).isInstanceOf(LifeCycle.Current.class);
        assertThat(rebuild.status()).isSameAs(RebuildStatus.NEVER);
    }

    @Test
    void aRequestedRebuildRunsBesideTheServingIndexUntilItIsSwapped() {
        rebuild.requestRebuild();
        IndexFeeder rebuilt = stepUntilRebuilt();

        assertThat(rebuilt.index()).isSameAs(store.unfinished());
        assertThat(lifeCycle.state()).isInstanceOf(LifeCycle.Rebuilding.class);
        assertThat(Objects.requireNonNull(lifeCycle.serving()).index()).isSameAs(store.serving());
        assertThat(unfinished().isClosed()).isFalse();

        lifeCycle.swap(new ServingIndex(rebuilt.index(), rebuilt.completeUpTo()));
        rebuild.onSwapped();
        assertThat(rebuild.status().state()).isEqualTo(RebuildStatus.State.DONE);
        assertThat(rebuild.rebuiltFeeder()).isNull();
    }

    @Test
    void anInterruptedRebuildContinuesAtItsLastCommit() {
        rebuild.requestRebuild();
        stepUntilRebuilt();
        rebuild.suspend();
        assertThat(lifeCycle.state()).isInstanceOf(LifeCycle.Current.class);
        store.close();
        topics.write("music:tracks:2", 2, "Two");

        rebuild = new IndexRebuild(context, lifeCycle);
        IndexFeeder rebuilt = stepUntilRebuilt();

        assertThat(rebuilt.appliedCount())
                .as("row and document of the second track")
                .isEqualTo(2);
        assertThat(rebuild.status().reason()).isEqualTo("the last rebuild was interrupted");
    }

    @Test
    void anUnfinishedIndexOfOtherTopicsIsDeletedAndNotContinued() {
        rebuild.requestRebuild();
        stepUntilRebuilt();
        rebuild.suspend();
        MemoryIndex unfinished = unfinished();
        topics.createAgain();

        rebuild = new IndexRebuild(context, lifeCycle);
        step();

        assertThat(store.unfinished()).isNull();
        assertThat(unfinished.isClosed()).isTrue();
        assertThat(rebuild.status().isRunning()).isFalse();
    }

    @Test
    void aRequestDuringACancellationBeginsAnotherRebuild() {
        rebuild.requestRebuild();
        step();
        MemoryIndex first = unfinished();

        rebuild.requestCancellation();
        rebuild.requestRebuild();
        step();

        assertThat(first.isClosed()).isTrue();
        assertThat(unfinished()).isNotSameAs(first);
        assertThat(rebuild.status().isRunning()).isTrue();
        assertThat(stepUntilRebuilt().index()).isSameAs(unfinished());
    }

    @Test
    void aCancellationHasNoEffectIfNothingUpdatesTheServingIndex() {
        IndexFeeder feeder = Objects.requireNonNull(lifeCycle.feeder());
        lifeCycle.detach();
        rebuild.require("the topics were created again");
        step();
        MemoryIndex unfinished = unfinished();

        rebuild.requestCancellation();
        step();

        assertThat(store.unfinished()).isSameAs(unfinished);
        assertThat(rebuild.status().isRunning()).isTrue();
        lifeCycle.attach(feeder);
    }

    @Test
    void anErrorOfARebuildIsRetriedAndLeavesTheServingIndex() {
        isOutOfMemory = true;
        rebuild.requestRebuild();
        step();
        assertThat(rebuild.waitReason()).isEqualTo("java.lang.OutOfMemoryError: simulated");
        assertThat(unfinished().isClosed()).isTrue();
        assertThat(store.serving().isClosed()).isFalse();
        assertThat(lifeCycle.state()).isInstanceOf(LifeCycle.Current.class);

        isOutOfMemory = false;

        assertThat(stepUntilRebuilt().index()).isSameAs(unfinished());
        assertThat(rebuild.waitReason()).isNull();
    }
}

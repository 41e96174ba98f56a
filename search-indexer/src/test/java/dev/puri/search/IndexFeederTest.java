package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.puri.projection.wait.OutcomeCache;
import dev.puri.projection.wait.Waiters;
import dev.puri.schemas.identity.Puri;
import dev.puri.search.IndexFeeder.RebuildRequiredException;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexCheckpoint;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A feeder compares its index with the end offsets of the topics. */
final class IndexFeederTest {
    private static final Puri PURI = Puri.parse("music:tracks:1");
    private static final Duration MAX_INDEX_AGE = Duration.ofDays(6);

    private final MemoryTopics topics = new MemoryTopics();
    private final MemoryIndex index = new MemoryIndex();
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private Instant now = Instant.parse("2026-11-24T10:00:00Z");
    private IndexFeeder feeder = feeder(Duration.ZERO, Duration.ofHours(1));

    @AfterEach
    void close() {
        feeder.disconnect();
    }

    private IndexFeeder feeder(Duration refreshInterval, Duration commitInterval) {
        return new IndexFeeder(
                index,
                IndexCheckpoint.NONE,
                topics.source(() -> now),
                topics.feederContext(
                        new OutcomeCache(meters), new Waiters(1), refreshInterval, commitInterval, () -> now, meters));
    }

    private void step() throws Exception {
        feeder.step(topics.source(() -> now), MAX_INDEX_AGE, Duration.ZERO);
    }

    private void stepUntil(Callable<Boolean> condition) {
        await().pollInSameThread().atMost(Duration.ofSeconds(30)).until(() -> {
            step();
            return condition.call();
        });
    }

    @Test
    void anIndexIsCompleteAsOfTheEndOffsetsThatReadersHaveReached() throws Exception {
        topics.announceDocument(PURI.toString());
        topics.writeRow(PURI.toString(), 1);
        now = now.plusSeconds(1);
        step();
        assertThat(feeder.isComplete()).isFalse();

        now = now.plusSeconds(1);
        topics.writeDocument(PURI.toString(), 1, "One");
        step();

        assertThat(feeder.isComplete()).isTrue();
        assertThat(feeder.completeUpTo().wall()).isEqualTo(now);
        assertThat(index.entry(EntryKind.DOCUMENT, PURI)).isNotNull();
    }

    @Test
    void aDocumentIsVisibleWhenReadersHaveReachedTheHighWatermarkAfterItsRow() throws Exception {
        step();
        topics.announceDocument(PURI.toString());
        topics.writeRow(PURI.toString(), 1);
        step();
        step();
        assertThat(index.entry(EntryKind.IDENTITY, PURI)).isNotNull();
        assertThat(feeder.isDocumentVisible(PURI)).isFalse();

        topics.writeDocument(PURI.toString(), 1, "One");
        step();

        assertThat(feeder.isDocumentVisible(PURI)).isTrue();
    }

    @Test
    void changesBecomeVisibleAndDurableWhileTheNextRecordsCannotBeRead() throws Exception {
        feeder.disconnect();
        feeder = feeder(Duration.ofMillis(200), Duration.ofMillis(300));
        step();
        topics.write("music:tracks:0", 0, "Zero");
        stepUntil(() -> index.entry(EntryKind.DOCUMENT, Puri.parse("music:tracks:0")) != null);
        topics.write(PURI.toString(), 1, "One");
        step();

        topics.setDeclarationsUnknown(true);
        topics.write("music:tracks:2", 2, "Two");
        NextOffsets applied = feeder.appliedOffsets();
        stepUntil(() -> index.entry(EntryKind.DOCUMENT, PURI) != null
                && applied.byKind().equals(index.committedCheckpoint().offsets()));

        assertThat(feeder.waitReason()).contains("unknown in this test");
        assertThat(feeder.appliedCount()).isEqualTo(4);
    }

    @Test
    void anIndexThatMayHaveMissedErasuresMustBeRebuilt() throws Exception {
        step();
        now = now.plus(MAX_INDEX_AGE);
        step();

        now = now.plus(MAX_INDEX_AGE).plusSeconds(1);

        assertThatThrownBy(this::step)
                .isInstanceOf(RebuildRequiredException.class)
                .hasMessageEndingWith("and may have missed erasures");
    }

    @Test
    void anIndexOfRecreatedTopicsMustBeRebuilt() throws Exception {
        step();
        topics.createAgain();

        assertThatThrownBy(this::step)
                .isInstanceOf(RebuildRequiredException.class)
                .hasMessageContaining("was deleted and created again");
    }

    @Test
    void anIndexWhoseNextRecordsWereDeletedMustBeRebuilt() throws Exception {
        step();
        topics.write(PURI.toString(), 1, "One");
        topics.deleteRecords();

        assertThatThrownBy(this::step)
                .isInstanceOf(RebuildRequiredException.class)
                .hasMessageContaining("records of the topics were deleted");
    }
}

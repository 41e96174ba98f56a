package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.puri.http.JsonBody;
import dev.puri.projection.DigestCheck;
import dev.puri.projection.wait.OutcomeCache;
import dev.puri.projection.wait.Waiters;
import dev.puri.schemas.identity.Puri;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexChange;
import dev.puri.search.index.IndexUnavailableException;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

/** The life cycle of the index, without brokers and without an engine. */
@Isolated("reads the log of all indexers")
@Timeout(60)
final class IndexerTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final MemoryTopics topics = new MemoryTopics();
    private final MemoryStore store = new MemoryStore();
    private final AtomicInteger opened = new AtomicInteger();
    private volatile Duration clockAdvance = Duration.ZERO;
    private @Nullable Indexer indexer;

    private Indexer start() {
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        Indexer started = topics.indexer(
                () -> {
                    opened.incrementAndGet();
                    return store;
                },
                new OutcomeCache(meters),
                new Waiters(1),
                () -> Instant.now().plus(clockAdvance),
                meters);
        indexer = started;
        started.start();
        return started;
    }

    @AfterEach
    void stop() {
        if (indexer != null) {
            indexer.close();
        }
    }

    private static void awaitThat(Callable<Boolean> condition) {
        await().atMost(TIMEOUT).pollInterval(Duration.ofMillis(5)).until(condition);
    }

    /**
     * Waits until the indexer uses the newest end offsets. The round of the first poll from now on may have read them
     * earlier; the round of the second poll has not.
     */
    private void awaitNewRound() {
        int polls = topics.polls();
        awaitThat(() -> topics.polls() > polls + 1);
    }

    /** Changes the topics while the indexer gets no end offsets, so that it never gets those between two changes. */
    private void changeAtOnce(Indexer running, Runnable changes) {
        topics.setAway(true);
        awaitThat(() -> running.endOffsets().failureReason() != null);
        changes.run();
        topics.setAway(false);
    }

    /** Whether the index that serves has an identity. */
    private static boolean serves(Indexer indexer, String puri) throws IndexUnavailableException {
        try (ServingIndex serving = indexer.acquire()) {
            return serving != null && serving.index().entry(EntryKind.IDENTITY, Puri.parse(puri)) != null;
        }
    }

    @Test
    void servesWhenTheIndexHasReachedTheEndOffsets() {
        topics.write("music:tracks:1", 1, "One");
        topics.setAway(true);
        Indexer indexer = start();
        awaitThat(() -> opened.get() == 1);
        assertThat(indexer.acquire()).isNull();
        assertThat(indexer.health().isReady()).isFalse();
        assertThat(indexer.servingFailure()).isNull();

        topics.setAway(false);

        awaitThat(() -> serves(indexer, "music:tracks:1"));
        awaitThat(indexer.health()::isReady);
    }

    @Test
    void keepsServingWithoutBrokersAndReportsIt() {
        topics.write("music:tracks:1", 1, "One");
        Indexer indexer = start();
        awaitThat(indexer.health()::isReady);

        topics.setAway(true);

        awaitThat(() -> indexer.health().waitReason().equals("waiting for the brokers: no broker"));
        assertThat(indexer.serving()).isNotNull();
        topics.setAway(false);
        topics.write("music:tracks:2", 2, "Two");
        awaitThat(() -> serves(indexer, "music:tracks:2") && indexer.health().isReady());
    }

    @Test
    void anEngineFailureStopsServingUntilTheEngineIsOpenAgain() {
        topics.write("music:tracks:1", 1, "One");
        Indexer indexer = start();
        awaitThat(indexer.health()::isReady);

        store.serving().setUnavailable(true);
        topics.write("music:tracks:2", 2, "Two");

        awaitThat(() -> indexer.serving() == null);
        awaitThat(() -> "the engine is unavailable".equals(indexer.servingFailure()));
        assertThat(indexer.health().waitReason()).isEqualTo("the engine cannot be used: the engine is unavailable");
        store.serving().setUnavailable(false);
        awaitThat(() -> serves(indexer, "music:tracks:2") && indexer.health().isReady());
        assertThat(indexer.servingFailure()).isNull();
        assertThat(opened.get()).isGreaterThan(1);
    }

    @Test
    void aBugIsReportedAndTheRecordsAreReadAgain() {
        topics.write("music:tracks:1", 1, "One");
        Indexer indexer = start();
        awaitThat(indexer.health()::isReady);

        store.serving().setBroken(true);
        topics.write("music:tracks:2", 2, "Two");

        awaitThat(() -> "java.lang.IllegalStateException: a bug".equals(indexer.servingFailure()));
        store.serving().setBroken(false);
        awaitThat(() -> serves(indexer, "music:tracks:2") && indexer.health().isReady());
    }

    @Test
    void servesTheOldIndexUntilTheIndexOfRecreatedTopicsIsComplete() throws Exception {
        topics.write("music:tracks:1", 1, "One");
        Indexer indexer = start();
        awaitThat(indexer.health()::isReady);
        MemoryIndex old = store.serving();
        store.setNewIndexUnavailable(true);

        changeAtOnce(indexer, () -> {
            topics.createAgain();
            topics.write("music:tracks:2", 2, "Two");
        });

        awaitThat(() -> indexer.primaryFeeder() == null && store.unfinished() != null);
        assertThat(serves(indexer, "music:tracks:1")).isTrue();
        assertThat(indexer.health().isReady()).isFalse();
        store.unfinished().setUnavailable(false);
        awaitThat(() -> serves(indexer, "music:tracks:2"));
        awaitThat(old::isClosed);
        awaitThat(indexer.health()::isReady);
        assertThat(indexer.rebuildStatus().state()).isEqualTo(RebuildStatus.State.DONE);
    }

    @Test
    void refusesToServeAnIndexWhoseNextRecordsWereDeleted() throws Exception {
        topics.write("music:tracks:1", 1, "One");
        Indexer indexer = start();
        awaitThat(indexer.health()::isReady);
        indexer.close();

        topics.write("music:tracks:2", 2, "Two");
        topics.write("music:tracks:3", 3, "Three");
        topics.deleteRecords();
        topics.write("music:tracks:4", 4, "Four");
        Indexer next = start();

        awaitThat(() -> next.health().waitReason().startsWith("records of partition "));
        assertThat(next.health().waitReason()).contains(" were deleted, so the topic lacks rows");
        awaitThat(() -> next.serving() == null);

        topics.createAgain();
        topics.write("music:tracks:5", 5, "Five");
        awaitThat(() -> serves(next, "music:tracks:5"));
        assertThat(serves(next, "music:tracks:1")).isFalse();
        awaitThat(next.health()::isReady);
    }

    @Test
    void refusesToFillAnIndexFromTopicsWithoutTheirFirstRecords() throws Exception {
        topics.write("music:tracks:1", 1, "One");
        topics.deleteRecords();
        topics.write("music:tracks:2", 2, "Two");
        Indexer indexer = start();

        awaitThat(() -> indexer.health().waitReason().contains("were deleted, so the topic lacks rows"));
        assertThat(indexer.serving()).isNull();
        assertThat(store.unfinished()).isNull();
    }

    @Test
    void aCompleteIndexKeepsServingWhenRecordsAreDeletedButIsNotReady() throws Exception {
        topics.write("music:tracks:1", 1, "One");
        Indexer indexer = start();
        awaitThat(indexer.health()::isReady);

        topics.deleteRecords();

        awaitThat(() -> indexer.health().waitReason().contains("were deleted, so the topic lacks rows"));
        assertThat(serves(indexer, "music:tracks:1")).isTrue();
        indexer.requestRebuild();
        awaitThat(() -> indexer.rebuildStatus().isRunning());
        indexer.requestCancellation();
        awaitThat(() -> !indexer.rebuildStatus().isRunning());
        assertThat(serves(indexer, "music:tracks:1")).isTrue();
    }

    @Test
    void aDifferenceMakesTheIndexUnreadyUntilARebuildReplacesIt() throws Exception {
        topics.write("music:tracks:1", 1, "One");
        Indexer indexer = start();
        awaitThat(indexer.health()::isReady);
        int partition = MemoryTopics.partition("music:tracks:1");
        MemoryIndex old = store.serving();
        // The engine loses an entry.
        old.plant(new IndexChange(EntryKind.DOCUMENT, partition, 0, Puri.parse("music:tracks:1"), null));

        topics.publishDigest(EntryKind.DOCUMENT, partition, Instant.now());

        awaitThat(() -> indexer.health()
                .waitReason()
                .startsWith("partition " + partition + " of puri.documents.v1 differs from the registrar at offset 1"));
        assertThat(indexer.health().waitReason()).endsWith("; run puri search verify, then puri search reindex");
        assertThat(indexer.health().isReady()).isFalse();
        assertThat(serves(indexer, "music:tracks:1")).isTrue();
        assertThat(indexer.requestDigests().get(30, TimeUnit.SECONDS).toString())
                .contains("state=differs");

        indexer.requestRebuild();
        awaitThat(() -> store.serving() != old && indexer.health().isReady());
        topics.publishDigest(EntryKind.DOCUMENT, partition, Instant.now());
        awaitThat(() -> indexer.digestCheck(EntryKind.DOCUMENT).state(partition) == DigestCheck.State.EQUAL);
    }

    @Test
    void anAlteredEntryMakesTheIndexUnreadyUntilItIsReplaced() throws Exception {
        topics.write("music:tracks:1", 1, "One");
        topics.write("music:tracks:2", 2, "Two");
        Indexer indexer = start();
        try (IndexScrub scrub = new IndexScrub(indexer, 1_000, Duration.ofMillis(20))) {
            scrub.start();
            awaitThat(indexer.health()::isReady);

            store.serving().alter(Puri.parse("music:tracks:2"), Samples.active(2, "br-9"));

            awaitThat(() -> indexer.health().waitReason().contains("the entry music:tracks:2"));
            assertThat(indexer.health().waitReason())
                    .contains("partition " + MemoryTopics.partition("music:tracks:2") + " of puri.identities.v1");
            topics.write("music:tracks:2", 2, "Two");
            awaitThat(indexer.health()::isReady);
        }
    }

    @Test
    void theCheckOfStoredEntriesReportsAFailureAndContinuesWithTheNextPartition() {
        String other = MemoryTopics.partition("music:tracks:1") == 1 ? "music:tracks:1" : "music:tracks:2";
        topics.write(other, 2, "Two");
        Indexer indexer = start();
        try (IndexScrub scrub = new IndexScrub(indexer, 1_000, Duration.ofMillis(20))) {
            awaitThat(indexer.health()::isReady);
            store.serving().setUnreadablePartition(0);
            store.serving().alter(Puri.parse(other), Samples.active(2, "br-9"));

            scrub.start();

            awaitThat(() -> "the partition is unreadable in this test"
                    .equals(indexer.health().scrubFailure().reason()));
            awaitThat(() -> indexer.health().waitReason().contains("the entry " + other));

            store.serving().setUnreadablePartition(-1);
            awaitThat(() -> indexer.health().scrubFailure().reason() == null);
        }
    }

    @Test
    void aRequestedRebuildReplacesTheServingIndex() throws Exception {
        topics.write("music:tracks:1", 1, "One");
        Indexer indexer = start();
        awaitThat(indexer.health()::isReady);
        MemoryIndex old = store.serving();

        indexer.requestRebuild();

        awaitThat(() -> indexer.rebuildStatus().state() == RebuildStatus.State.DONE);
        assertThat(store.serving()).isNotSameAs(old);
        assertThat(serves(indexer, "music:tracks:1")).isTrue();
        awaitThat(old::isClosed);
    }

    @Test
    void aFailedReplacementLeavesTheServingIndexAndIsRetried() throws Exception {
        topics.write("music:tracks:1", 1, "One");
        Indexer indexer = start();
        awaitThat(indexer.health()::isReady);
        MemoryIndex old = store.serving();
        store.setPromotionUnavailable(true);

        indexer.requestRebuild();

        awaitThat(() -> new String(JsonBody.bytes(indexer.rebuildStatus()::writeTo), StandardCharsets.UTF_8)
                .contains("\"detail\":\"promotions fail in this test\""));
        topics.write("music:tracks:2", 2, "Two");
        awaitThat(() -> serves(indexer, "music:tracks:2"));
        assertThat(store.serving()).isSameAs(old);
        assertThat(opened.get()).isEqualTo(1);

        store.setPromotionUnavailable(false);
        awaitThat(() -> indexer.rebuildStatus().state() == RebuildStatus.State.DONE);
        assertThat(serves(indexer, "music:tracks:2")).isTrue();
        assertThat(indexer.rebuildStatus().detail()).isNull();
    }

    @Test
    void aReaderKeepsTheReplacedIndexOpen() {
        topics.write("music:tracks:1", 1, "One");
        Indexer indexer = start();
        awaitThat(indexer.health()::isReady);
        ServingIndex acquired = indexer.acquire();
        assertThat(acquired).isNotNull();
        MemoryIndex old = store.serving();

        indexer.requestRebuild();
        awaitThat(() -> indexer.rebuildStatus().state() == RebuildStatus.State.DONE);

        int polls = topics.polls();
        awaitThat(() -> topics.polls() > polls + 3);
        assertThat(old.isClosed()).isFalse();
        acquired.close();
        awaitThat(old::isClosed);
    }

    @Test
    void aCancelledRebuildLeavesTheServingIndex() {
        topics.write("music:tracks:1", 1, "One");
        Indexer indexer = start();
        awaitThat(indexer.health()::isReady);
        MemoryIndex serving = store.serving();
        store.setNewIndexUnavailable(true);
        indexer.requestRebuild();
        awaitThat(() -> store.unfinished() != null);

        indexer.requestCancellation();
        awaitThat(() -> indexer.rebuildStatus().state() == RebuildStatus.State.ENDED);

        assertThat(store.serving()).isSameAs(serving);
        assertThat(store.unfinished()).isNull();
        awaitThat(indexer.health()::isReady);
    }

    @Test
    void continuesFromTheCheckpointOfTheLastRun() {
        topics.write("music:tracks:1", 1, "One");
        Indexer first = start();
        awaitThat(first.health()::isReady);
        first.close();

        topics.write("music:tracks:2", 2, "Two");
        Indexer second = start();

        awaitThat(() -> serves(second, "music:tracks:1") && serves(second, "music:tracks:2"));
        assertThat(second.primaryFeeder().appliedCount()).isEqualTo(2);
    }

    @Test
    void aRecentIndexServesBeforeTheBrokersRespondAndAnOldOneDoesNot() throws Exception {
        topics.write("music:tracks:1", 1, "One");
        Indexer first = start();
        awaitThat(first.health()::isReady);
        first.close();
        topics.setAway(true);

        Indexer recent = start();
        awaitThat(() -> serves(recent, "music:tracks:1"));
        assertThat(recent.health().isReady()).isFalse();
        recent.close();

        clockAdvance = Duration.ofHours(21);
        Indexer old = start();
        awaitThat(() -> old.health().waitReason().contains("no broker answers"));
        assertThat(old.serving()).isNull();
        topics.setAway(false);
        awaitThat(() -> serves(old, "music:tracks:1"));
    }

    @Test
    void aStoredIndexOfOtherTopicsStopsServing() {
        topics.write("music:tracks:1", 1, "One");
        Indexer first = start();
        awaitThat(first.health()::isReady);
        first.close();

        topics.createAgain();
        topics.write("music:tracks:2", 2, "Two");
        Indexer second = start();

        awaitThat(() -> serves(second, "music:tracks:2"));
        assertThat(second.rebuildStatus().reason()).endsWith("was deleted and created again");
    }

    @Test
    void searchesGetTheReasonOfAFailureWhileTheIndexIsStillBeingClosed() {
        topics.write("music:tracks:1", 1, "One");
        Indexer indexer = start();
        awaitThat(indexer.health()::isReady);
        try (ServingIndex reader = indexer.acquire()) {
            assertThat(reader).isNotNull();

            store.serving().setBroken(true);
            topics.write("music:tracks:2", 2, "Two");
            awaitThat(() -> indexer.serving() == null);

            assertThat(indexer.servingFailure()).isEqualTo("java.lang.IllegalStateException: a bug");
            store.serving().setBroken(false);
        }
    }

    @Test
    void aFailureDuringTheClosingDoesNotHideTheFailureBefore() {
        topics.write("music:tracks:1", 1, "One");
        Indexer indexer = start();
        awaitThat(indexer.health()::isReady);
        // A rebuild that waits for this document commits only when it is closed. The second track must be in another
        // partition, because its document would end the wait.
        topics.announceDocument("music:tracks:1");
        assertThat(MemoryTopics.partition("music:tracks:1")).isNotEqualTo(MemoryTopics.partition("music:tracks:2"));
        awaitThat(
                () -> Objects.requireNonNull(indexer.endOffsets().lastOffsets()).lag(indexer.visibleOffsets()) == 1);
        awaitNewRound();
        indexer.requestRebuild();
        awaitThat(() ->
                indexer.rebuildStatus().isRunning() && indexer.rebuildStatus().appliedChanges() == 2);
        MemoryIndex rebuilt = store.unfinished();

        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        Logger logger = (Logger) LoggerFactory.getLogger(Indexer.class);
        logger.addAppender(logged);

        rebuilt.setBroken(true);
        store.serving().setApplyUnavailable(true);
        topics.write("music:tracks:2", 2, "Two");
        awaitThat(() -> opened.get() > 1);
        logger.detachAppender(logged);

        assertThat(indexer.health().ready().details()).containsEntry("lastFailure", "apply fails in this test");
        assertThat(logged.list)
                .filteredOn(event -> event.getLevel() == Level.ERROR)
                .isNotEmpty()
                .allSatisfy(event ->
                        assertThat(event.getThrowableProxy().getMessage()).isEqualTo("a bug"));
        rebuilt.setBroken(false);
    }

    @Test
    @Timeout(25)
    void aStopInterruptsAnEngineThatHangsWhileItIsClosed() throws Exception {
        topics.write("music:tracks:1", 1, "One");
        Indexer indexer = start();
        awaitThat(indexer.health()::isReady);
        store.hangWhenClosed();
        store.serving().setApplyUnavailable(true);
        topics.write("music:tracks:2", 2, "Two");
        store.awaitHang();

        // Without an interrupt, this takes 30 s.
        indexer.close();
    }

    @Test
    void theFirstIndexServesWhenItIsCompleteAlthoughARebuildRuns() {
        String first = "music:tracks:1";
        String inOtherPartition = "music:tracks:2";
        assertThat(MemoryTopics.partition(first)).isNotEqualTo(MemoryTopics.partition(inOtherPartition));
        topics.announceDocument(first);
        Indexer indexer = start();
        awaitThat(() -> topics.polls() > 0);
        // The end offsets from now on are not reached in this test, so the rebuild does not end.
        topics.announceDocument(inOtherPartition);
        int otherPartition = MemoryTopics.partition(inOtherPartition);
        awaitThat(() -> Objects.requireNonNull(indexer.endOffsets().lastOffsets())
                        .endsOf(EntryKind.DOCUMENT)
                        .byPartition()
                        .get(otherPartition)
                == 1);
        awaitNewRound();
        indexer.requestRebuild();
        awaitThat(() -> store.unfinished() != null);

        topics.write(first, 1, "One");

        awaitThat(() -> serves(indexer, first));
        assertThat(indexer.rebuildStatus().isRunning()).isTrue();
    }

    @Test
    void theStopCommitsARebuildAlthoughNothingUpdatesTheServingIndex() throws Exception {
        topics.write("music:tracks:1", 1, "One");
        Indexer indexer = start();
        awaitThat(indexer.health()::isReady);
        changeAtOnce(indexer, () -> {
            topics.createAgain();
            topics.write("music:tracks:2", 2, "Two");
            // The rebuild waits for this document.
            topics.announceDocument("music:tracks:3");
        });
        awaitThat(
                () -> indexer.primaryFeeder() == null && indexer.rebuildStatus().appliedChanges() == 2);

        indexer.close();

        assertThat(store.unfinished().committedCheckpoint().topicIds()).isNotEmpty();
    }
}

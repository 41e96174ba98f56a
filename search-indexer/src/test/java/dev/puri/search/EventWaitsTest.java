package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.projection.wait.EventStatus;
import dev.puri.projection.wait.OutcomeCache;
import dev.puri.projection.wait.ReadYourWrites;
import dev.puri.projection.wait.Refusals;
import dev.puri.projection.wait.Waiters;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Refusal;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Waits for events, without brokers and without an engine. */
@Timeout(60)
final class EventWaitsTest {
    /** The events of this name are in partition 0, as those of {@link Samples}. */
    private static final String TRACK = IntStream.iterate(1, i -> i + 1)
            .mapToObj(i -> "music:tracks:" + i)
            .filter(puri -> MemoryTopics.partition(puri) == 0)
            .findFirst()
            .orElseThrow();

    private static final Puri PURI = Puri.parse(TRACK);

    private final MemoryTopics topics = new MemoryTopics();
    private final MemoryStore store = new MemoryStore();
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final OutcomeCache outcomes = new OutcomeCache(meters);
    private final Waiters waiters = new Waiters(100);
    private final Indexer indexer = topics.indexer(() -> store, outcomes, waiters, InstantSource.system(), meters);
    private final IndexRows rows = new IndexRows(indexer);
    private final EventWaits waits = new EventWaits(
            indexer,
            rows,
            new ReadYourWrites(rows, outcomes, new NoRefusals(), waiters, () -> MemoryTopics.PARTITIONS, meters),
            waiters);

    private static final class NoRefusals implements Refusals {
        @Override
        public @Nullable Refusal at(Position position, @Nullable Puri puri) {
            return null;
        }

        @Override
        public @Nullable Position lastEventWithoutRow(Puri puri) {
            return null;
        }

        @Override
        public CompletionStage<@Nullable Refusal> awaitAt(Position position, Duration timeout) {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public void setListener(Listener listener) {}
    }

    @AfterEach
    void stop() {
        indexer.close();
        waiters.close();
    }

    private static void awaitThat(Callable<Boolean> condition) {
        await().atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(5))
                .until(condition);
    }

    /** Starts the indexer and shows readers the row of event 7, but not the document of the same transaction. */
    private void showRowWithoutDocument() {
        indexer.start();
        awaitThat(indexer.health()::isReady);
        topics.announceDocument(TRACK);
        topics.writeRow(TRACK, 7);
        awaitThat(() -> rows.lastEventOf(PURI) != null);
    }

    private CompletableFuture<EventStatus> awaitEvent() throws Exception {
        return waits.await(
                "caller", new SearchRequest.AwaitedEvent(PURI, null, Samples.position(7), Duration.ofSeconds(30)));
    }

    @Test
    void anEventIsSeenWhenItsDocumentIsVisibleToo() throws Exception {
        showRowWithoutDocument();
        CompletableFuture<EventStatus> status = awaitEvent();
        assertThat(status).isNotDone();

        topics.writeDocument(TRACK, 7, "Seven");

        assertThat(status.get(30, TimeUnit.SECONDS)).isInstanceOf(EventStatus.Seen.class);
    }

    @Test
    void anEarlierEventIsSeenWithoutARequestToTheBrokers() throws Exception {
        indexer.start();
        awaitThat(indexer.health()::isReady);
        topics.writeRow(TRACK, 7);
        awaitThat(() -> rows.lastEventOf(PURI) != null);
        awaitThat(() -> indexer.servingFeeder().isDocumentVisible(PURI));

        topics.setAway(true);

        assertThat(awaitEvent().getNow(null)).isInstanceOf(EventStatus.Seen.class);
    }

    @Test
    void anEventIsNotCaughtUpBeforeTheBrokersReportTheirPartitions() throws Exception {
        assertThat(awaitEvent().getNow(null)).isInstanceOf(EventStatus.NotCaughtUp.class);
    }

    @Test
    void aWaitEndsInTimeAlthoughNoBrokerResponds() throws Exception {
        showRowWithoutDocument();
        topics.setSilent(true);

        CompletableFuture<EventStatus> status = waits.await(
                "caller", new SearchRequest.AwaitedEvent(PURI, null, Samples.position(7), Duration.ofMillis(50)));

        assertThat(status.get(30, TimeUnit.SECONDS)).isInstanceOf(EventStatus.NotCaughtUp.class);
    }

    @Test
    void aCancelledWaitForADocumentIsRemoved() throws Exception {
        showRowWithoutDocument();
        CompletableFuture<EventStatus> status = awaitEvent();
        assertThat(waiters.count()).isEqualTo(1);

        status.cancel(false);

        assertThat(waiters.count()).isZero();
    }
}

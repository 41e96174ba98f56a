package dev.puri.projection.wait;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Refusal;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.utils.Utils;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class ReadYourWritesTest {
    private static final int PARTITIONS = 8;
    private static final Puri TRACK = Puri.parse("soundcloud:tracks:1");
    private static final int ITS_PARTITION = Utils.toPositive(Utils.murmur2(TRACK.toBytes())) % PARTITIONS;
    private static final Position WRONG_PARTITION = new Position(Topics.EVENTS, (ITS_PARTITION + 1) % PARTITIONS, 7);
    private static final Handle HANDLE = new Handle("trk_4k7vx9tz2nqr8w3");
    private static final Object CALLER = "a connection";
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final Instant NOW = Instant.parse("2026-03-01T10:00:00Z");

    private final OutcomeCache outcomes = new OutcomeCache(new SimpleMeterRegistry());
    private final Known refusals = new Known();
    private final Waiters waiters = new Waiters(100);
    private FakeRows table = new FakeRows();
    private int asked;
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final ReadYourWrites writes =
            new ReadYourWrites(new Current(), outcomes, refusals, waiters, () -> PARTITIONS, meters);

    /** The rows of a table. */
    private static final class FakeRows {
        private final Map<Puri, Row> byPuri = new HashMap<>();

        void put(Puri puri, Row row) {
            byPuri.put(puri, row);
        }

        void remove(Puri puri) {
            byPuri.remove(puri);
        }
    }

    /** The rows of the current table. */
    private final class Current implements ReadYourWrites.Rows {
        @Override
        public @Nullable Position lastEventOf(Puri puri) {
            asked++;
            return lastRecentOf(puri);
        }

        @Override
        public @Nullable Position lastRecentOf(Puri puri) {
            Row row = table.byPuri.get(puri);
            return row == null ? null : row.position();
        }

        @Override
        public @Nullable Puri puriOf(Handle handle) {
            return table.byPuri.entrySet().stream()
                    .filter(entry -> handle.equals(entry.getValue().handle()))
                    .map(Map.Entry::getKey)
                    .findAny()
                    .orElse(null);
        }

        @Override
        public boolean isServing() {
            return true;
        }
    }

    @AfterEach
    void close() {
        waiters.close();
    }

    /** The refusals that were read from their own topic, which may be read later than the table's topic. */
    private static final class Known implements Refusals {
        private final Map<Position, Refusal> all = new HashMap<>();
        private final Map<Puri, Position> erasures = new HashMap<>();
        private final CompletableFuture<@Nullable Refusal> soon = new CompletableFuture<>();
        private Refusals.Listener listener = position -> {};

        void add(Position position, Refusal refusal) {
            all.put(position, refusal);
            listener.onOutcome(position);
        }

        @Override
        public void setListener(Refusals.Listener listener) {
            this.listener = listener;
        }

        @Override
        public @Nullable Refusal at(Position position, @Nullable Puri puri) {
            return puri == null || puri.equals(TRACK) ? all.get(position) : null;
        }

        @Override
        public @Nullable Position lastEventWithoutRow(Puri puri) {
            return erasures.get(puri);
        }

        @Override
        public CompletionStage<@Nullable Refusal> awaitAt(Position position, Duration patience) {
            return soon;
        }
    }

    @Test
    void clampsWaitsOfAnyLength() throws Exception {
        assertThat(writes.await(CALLER, TRACK, at(7), Duration.ofSeconds(Long.MIN_VALUE)))
                .isCompletedWithValue(new EventStatus.NotCaughtUp(at(7)));
        for (Duration wait : List.of(Duration.ofDays(365 * 300), Duration.ofSeconds(Long.MAX_VALUE))) {
            CompletableFuture<EventStatus> waiting = writes.await(CALLER, TRACK, at(7), wait);
            assertThat(waiting).isNotDone();
            assertThat(waiting.cancel(false)).isTrue();
        }
    }

    /** The state after a start from a snapshot that is younger than the erasure. */
    @Test
    void answersTheTokenOfAnErasureFromTheRejectionsTopic() throws Exception {
        refusals.erasures.put(TRACK, at(7));

        assertThat(writes.await(CALLER, TRACK, at(6), LONG)).isCompletedWithValue(new EventStatus.Seen());
        assertThat(writes.await(CALLER, TRACK, at(7), LONG)).isCompletedWithValue(new EventStatus.Seen());
        assertThat(writes.await(CALLER, TRACK, at(8), Duration.ZERO))
                .isCompletedWithValue(new EventStatus.NotCaughtUp(at(8)));
        table.put(TRACK, row(at(3)));
        assertThat(writes.await(CALLER, TRACK, at(7), Duration.ZERO))
                .as("the position of the row is older")
                .isCompletedWithValue(new EventStatus.NotCaughtUp(at(7)));
    }

    /** Later checks see only rows that changed since the start, so they may miss a row that the table has. */
    @Test
    void anErasureIsNotSeenBeforeTheRowIsGone() throws Exception {
        table.put(TRACK, row(at(3)));
        refusals.erasures.put(TRACK, at(7));
        CompletableFuture<EventStatus> waiting = writes.await(CALLER, TRACK, at(7), LONG);

        table.remove(TRACK);
        refusals.listener.onOutcome(at(7));
        waiters.wake(TRACK);
        assertThat(waiting).isNotDone();

        outcomes.addWithoutRow(TRACK, at(7));
        waiters.wake(TRACK);
        assertThat(waiting).isCompletedWithValue(new EventStatus.Seen());
    }

    @Test
    void anEventOfANamespacesTopicIsAnsweredAfterADeletionThroughAnotherPartition() throws Exception {
        Position created = Position.parse(TRACK.namespace() + "-4-1");
        outcomes.addDecided(TRACK, created);
        outcomes.addWithoutRow(TRACK, Position.parse(TRACK.namespace() + "-5-2"));

        assertThat(writes.await(CALLER, TRACK, created, LONG)).isCompletedWithValue(new EventStatus.Seen());
    }

    @Test
    void anEventOfAnotherPartitionThanTheRowsIsAnsweredWhileItIsRemembered() throws Exception {
        Position one = Position.parse(TRACK.namespace() + "-4-1");
        Position other = Position.parse(TRACK.namespace() + "-5-2");
        table.put(TRACK, row(other));
        assertThat(writes.await(CALLER, TRACK, one, Duration.ZERO))
                .isCompletedWithValue(new EventStatus.NotCaughtUp(one));

        outcomes.addDecided(TRACK, one);

        assertThat(writes.await(CALLER, TRACK, one, LONG)).isCompletedWithValue(new EventStatus.Seen());
    }

    @Test
    void aLateTokenIsSeenAtOnce() throws Exception {
        table.put(TRACK, row(at(7)));

        assertThat(writes.await(CALLER, TRACK, at(7), LONG)).isCompletedWithValue(new EventStatus.Seen());
        assertThat(waiters.count()).isZero();
    }

    @Test
    void wakeUpsMakeNoBlockingLookUps() throws Exception {
        table.put(TRACK, row(at(6)));
        CompletableFuture<EventStatus> byName = writes.await(CALLER, TRACK, at(7), LONG);
        CompletableFuture<EventStatus> byHandle = writes.await(CALLER, HANDLE, at(7), LONG);
        CompletableFuture<EventStatus> impatient = writes.await(CALLER, TRACK, at(7), Duration.ofMillis(1));
        assertThat(impatient.get(10, TimeUnit.SECONDS)).isInstanceOf(EventStatus.NotCaughtUp.class);
        waiters.wakeAll();
        assertThat(asked).isEqualTo(3);

        table.put(TRACK, row(at(7)));
        waiters.wakeAll();

        assertThat(byName).isCompletedWithValue(new EventStatus.Seen());
        assertThat(byHandle).isCompletedWithValue(new EventStatus.Seen());
        assertThat(asked).isEqualTo(3);
    }

    @Test
    void aLaterRowOfTheSameTopicSatisfiesAnEarlierToken() throws Exception {
        table.put(TRACK, row(at(9)));

        assertThat(writes.await(CALLER, TRACK, at(7), LONG)).isCompletedWithValue(new EventStatus.Seen());
    }

    @Test
    void aRowOfAnotherTopicSatisfiesNothing() throws Exception {
        table.put(TRACK, row(new Position(Topics.eventsTopicOf("soundcloud"), ITS_PARTITION, 100)));

        assertThat(writes.await(CALLER, TRACK, at(7), Duration.ZERO))
                .isCompletedWithValue(new EventStatus.NotCaughtUp(at(7)));
    }

    @Test
    void aLaterEventOfAnotherNameDoesNot() throws Exception {
        table.put(TRACK, row(at(5)));
        table.put(otherInTheSamePartition(), row(at(1_000)));

        assertThat(writes.await(CALLER, TRACK, at(7), Duration.ZERO))
                .isCompletedWithValue(new EventStatus.NotCaughtUp(at(7)));
    }

    @Test
    void waitsAreTimedByTheirEnd() throws Exception {
        CompletableFuture<EventStatus> gone = writes.await(CALLER, TRACK, at(7), LONG);
        gone.cancel(false);
        assertThat(writes.await(CALLER, TRACK, at(7), Duration.ofMillis(1))).succeedsWithin(LONG);
        CompletableFuture<EventStatus> seen = writes.await(CALLER, TRACK, at(7), LONG);
        table.put(TRACK, row(at(7)));
        waiters.wake(TRACK);
        assertThat(seen).isCompleted();
        writes.await(CALLER, TRACK, at(7), LONG);

        // The future completes a moment before the wait is counted.
        Awaitility.await()
                .untilAsserted(() -> assertThat(List.of("gone", "not-caught-up", "seen", "refused", "foreign"))
                        .extracting(end ->
                                meters.get("puri.waits").tag("end", end).timer().count())
                        .as("calls that need not wait are not counted")
                        .containsExactly(1L, 1L, 1L, 0L, 0L));
    }

    @Test
    void completesWhenTheRowIsVisible() throws Exception {
        CompletableFuture<EventStatus> waiting = writes.await(CALLER, TRACK, at(7), LONG);
        table.put(TRACK, row(at(6)));
        waiters.wake(TRACK);
        assertThat(waiting).isNotDone();

        table.put(TRACK, row(at(7)));
        waiters.wake(TRACK);

        assertThat(waiting).isCompletedWithValue(new EventStatus.Seen());
    }

    @Test
    void anErasureIsSeenUntilItIsForgottenAndNeverGuessed() throws Exception {
        outcomes.addWithoutRow(TRACK, at(8));
        assertThat(writes.await(CALLER, TRACK, at(8), LONG)).isCompletedWithValue(new EventStatus.Seen());
        assertThat(writes.await(CALLER, TRACK, at(3), LONG)).isCompletedWithValue(new EventStatus.Seen());

        for (int i = 0; i < OutcomeCache.MAX_ENTRIES; i++) {
            outcomes.addWithoutRow(Puri.parse("a:b:" + i), at(9));
        }

        assertThat(writes.await(CALLER, TRACK, at(8), Duration.ZERO))
                .isCompletedWithValue(new EventStatus.NotCaughtUp(at(8)));
    }

    @Test
    void aRefusalPrecedesALaterRow() throws Exception {
        table.put(TRACK, row(at(20)));
        Refusal refusal = new Refusal(
                Reason.PURI_TAKEN, "it is taken", new Refusal.Holder(new Owner("catalog"), new Shard("br-1")), null);
        refusals.all.put(at(7), refusal);

        assertThat(writes.await(CALLER, TRACK, at(7), LONG))
                .isCompletedWithValue(new EventStatus.Refused(at(7), Reason.PURI_TAKEN, refusal));
        assertThat(writes.await(CALLER, TRACK, at(8), LONG)).isCompletedWithValue(new EventStatus.Seen());
    }

    @Test
    void waitsBrieflyForTheDetailsOfARefusal() throws Exception {
        outcomes.addRefused(TRACK, at(7), Reason.PURI_TAKEN);

        CompletableFuture<EventStatus> waiting = writes.await(CALLER, TRACK, at(7), LONG);
        assertThat(waiting).isNotDone();
        refusals.soon.complete(null);

        assertThat(waiting).isCompletedWithValue(new EventStatus.Refused(at(7), Reason.PURI_TAKEN, null));
    }

    @Test
    void hidesARefusalOfAnotherName() throws Exception {
        Puri other = otherInTheSamePartition();
        refusals.all.put(at(7), Refusal.of(Reason.PURI_TAKEN, "it is taken"));
        outcomes.addRefused(TRACK, at(7), Reason.PURI_TAKEN);

        assertThat(writes.await(CALLER, other, at(7), Duration.ZERO))
                .isCompletedWithValue(new EventStatus.NotCaughtUp(at(7)));
    }

    @Test
    void aTokenOfAnotherPartitionOrNamespaceIsForeignOnceTheWaitIsOver() throws Exception {
        for (Position foreign : List.of(
                WRONG_PARTITION,
                new Position(Topics.EVENTS, PARTITIONS + 1, 7),
                new Position(Topics.eventsTopicOf("music"), 0, 7))) {
            assertThat(writes.await(CALLER, TRACK, foreign, Duration.ZERO).join())
                    .isInstanceOf(EventStatus.Foreign.class);
            assertThat(writes.await(CALLER, TRACK, foreign, Duration.ofMillis(1)))
                    .succeedsWithin(LONG)
                    .isInstanceOf(EventStatus.Foreign.class);
        }
        assertThat(((EventStatus.Foreign) writes.await(CALLER, TRACK, WRONG_PARTITION, Duration.ZERO)
                                .join())
                        .detail())
                .contains("murmur2");
    }

    @Test
    void anEventInTheWrongPartitionIsAnsweredByItsRefusal() throws Exception {
        CompletableFuture<EventStatus> byName = writes.await(CALLER, TRACK, WRONG_PARTITION, LONG);
        CompletableFuture<EventStatus> byHandle = writes.await(CALLER, HANDLE, WRONG_PARTITION, LONG);
        assertThat(byName).isNotDone();
        Refusal refusal = Refusal.of(Reason.MALFORMED, "set the partitioner");

        refusals.add(WRONG_PARTITION, refusal);

        EventStatus refused = new EventStatus.Refused(WRONG_PARTITION, Reason.MALFORMED, refusal);
        assertThat(byName).isCompletedWithValue(refused);
        assertThat(byHandle).isCompletedWithValue(refused);
        assertThat(waiters.count()).isZero();
    }

    @Test
    void aLookUpByHandleWaitsForItsToken() throws Exception {
        CompletableFuture<EventStatus> waiting = writes.await(CALLER, HANDLE, at(7), LONG);
        assertThat(waiting).isNotDone();

        table.put(TRACK, row(at(7)));
        waiters.wakeWaitersForAnyName();

        assertThat(waiting).isCompletedWithValue(new EventStatus.Seen());
    }

    @Test
    void aHandleTakenByAnotherIsARefusal() throws Exception {
        Refusal refusal = Refusal.of(Reason.HANDLE_TAKEN, "it is taken");
        refusals.all.put(at(7), refusal);

        assertThat(writes.await(CALLER, HANDLE, at(7), LONG))
                .isCompletedWithValue(new EventStatus.Refused(at(7), Reason.HANDLE_TAKEN, refusal));
    }

    @Test
    void showsARefusalForAHandleOnlyIfItConcernsTheHandle() throws Exception {
        table.put(TRACK, row(at(5)));
        outcomes.addRefused(otherInTheSamePartition(), at(7), Reason.PURI_TAKEN);
        outcomes.addRefused(otherInTheSamePartition(), at(8), Reason.HANDLE_TAKEN);
        refusals.soon.complete(null);

        assertThat(writes.await(CALLER, HANDLE, at(7), Duration.ZERO))
                .isCompletedWithValue(new EventStatus.NotCaughtUp(at(7)));
        assertThat(writes.await(CALLER, HANDLE, at(8), Duration.ZERO))
                .isCompletedWithValue(new EventStatus.Refused(at(8), Reason.HANDLE_TAKEN, null));
    }

    @Test
    void checksAgainWhenANewTableServesReads() throws Exception {
        CompletableFuture<EventStatus> waiting = writes.await(CALLER, TRACK, at(7), LONG);
        FakeRows filling = new FakeRows();
        filling.put(TRACK, row(at(7)));
        waiters.wake(TRACK);
        assertThat(waiting).isNotDone();

        table = filling;
        waiters.wakeAll();

        assertThat(waiting).isCompletedWithValue(new EventStatus.Seen());
    }

    @Test
    void cancellingEndsTheWait() throws Exception {
        CompletableFuture<EventStatus> waiting = writes.await(CALLER, TRACK, at(7), LONG);

        waiting.cancel(false);

        assertThat(waiters.count()).isZero();
    }

    private static Puri otherInTheSamePartition() {
        for (int i = 2; ; i++) {
            Puri other = Puri.parse("soundcloud:tracks:" + i);
            if (Utils.toPositive(Utils.murmur2(other.toBytes())) % PARTITIONS == ITS_PARTITION) {
                return other;
            }
        }
    }

    private static Position at(long offset) {
        return new Position(Topics.EVENTS, ITS_PARTITION, offset);
    }

    private static Row row(Position position) {
        return new Row(
                UUID.fromString("01970000-0000-7000-8000-000000000001"),
                new Owner("catalog"),
                new Shard("br-1"),
                HANDLE,
                Row.Status.ACTIVE,
                1,
                NOW,
                NOW,
                null,
                position);
    }
}

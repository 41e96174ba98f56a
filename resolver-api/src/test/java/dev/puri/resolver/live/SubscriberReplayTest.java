package dev.puri.resolver.live;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.resolver.live.Subscribers.Admission;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Subscribers that continue after an id: from the ring, from the log, or after a reset. */
final class SubscriberReplayTest extends RunningSubscribers {
    @Test
    void anOlderIdIsReadFromTheLog() {
        ChangeRing first = begin(0, 0);
        ChangeId before = first(subscribe(null));
        for (int i = 0; i < 3 * HISTORY; i++) {
            change(first, i % 2, i);
        }

        FakeSink after = subscribe(before);

        awaitEvents(after, 3 * HISTORY);
        change(first, 0, 1_000);
        awaitEvents(after, 3 * HISTORY + 1);
        assertThat(after.texts()).doesNotHaveDuplicates();
        assertThat(log.readings()).isPositive();
    }

    @Test
    void aReplaySkipsNoChangeThatTheTableDoesNotHaveYet() {
        ChangeRing ring = begin(0, 0);
        ChangeId before = first(subscribe(null));
        for (int i = 0; i < 3 * HISTORY; i++) {
            change(ring, i % 2, i);
        }
        Puri created = LiveRows.track(1_000);
        Row row = LiveRows.row("br-1", 1_000);
        long offset = log.end(0);
        erased.add(created);
        log.add(0, created, row, true);

        FakeSink after = subscribe(before);

        awaitEvents(after, 3 * HISTORY);
        erased.remove(created);
        ring.changed(0, offset, created, row);
        awaitEvents(after, 3 * HISTORY + 1);
    }

    /** The metric counts the streams that the resolver ends. */
    @Test
    void aClientThatLeavesBeforeItsReplayIsNotDropped() {
        ChangeRing ring = begin(0, 0);
        ChangeId before = first(subscribe(null));
        for (int i = 0; i < 3 * HISTORY; i++) {
            change(ring, i % 2, i);
        }
        FakeSink client = new FakeSink();

        assertThat(subscribers.subscribe(before, CollectionFilter.ALL, subscription -> {
                    subscription.cancel();
                    return client;
                }))
                .isEqualTo(Admission.ADMITTED);

        // There is one permit, which the replay returns at its end.
        await().until(() -> admission(before) == Admission.ADMITTED);
        assertThat(client.types()).isEmpty();
        assertThat(meters.get("puri.changes.dropped")
                        .tag("reason", "failed")
                        .counter()
                        .count())
                .isZero();
    }

    @Test
    void lateSubscribersReceiveNoErasedContentFromTheRing() {
        ChangeRing ring = begin(0, 0);
        ChangeId before = first(subscribe(null));
        change(ring, 0, 1);
        change(ring, 0, 2);
        erase(ring, 0, 1);

        FakeSink after = subscribe(before);

        awaitEvents(after, 2);
        assertThat(after.types()).containsExactly("changed", "erased");
        assertThat(after.texts().getFirst()).contains("music:tracks:2");
        assertThat(log.readings()).isZero();
    }

    @Test
    void lateSubscribersReceiveNoErasedContentFromTheLog() {
        ChangeRing ring = begin(0, 0);
        ChangeId before = first(subscribe(null));
        change(ring, 0, 1);
        change(ring, 0, 2);
        for (int i = 0; i < HISTORY; i++) {
            change(ring, 1, 100 + i);
        }
        erase(ring, 0, 1);

        FakeSink after = subscribe(before);

        awaitEvents(after, HISTORY + 2);
        assertThat(log.readings()).isPositive();
        assertThat(after.texts().stream().filter(text -> text.contains("\"music:tracks:1\"")))
                .containsExactly("erased {\"puri\":\"music:tracks:1\"}");
    }

    @Test
    void changesThatBecameTooOldForTheRingAreReadFromTheLog() {
        ChangeRing ring = begin(0, 0);
        ChangeId before = first(subscribe(null));
        for (int i = 0; i < 10; i++) {
            change(ring, 0, i);
        }
        // The clock moves slowly, so that the id does not expire.
        await().pollInterval(Duration.ofMillis(50)).until(() -> {
            now.updateAndGet(time -> time.plus(MAX_AGE.dividedBy(2)));
            return ring.oldestNumber() == 10;
        });

        FakeSink after = subscribe(before);

        awaitEvents(after, 10);
        assertThat(log.readings()).isPositive();
    }

    @Test
    void anIdInTheRingIsNotReadFromTheLog() {
        ChangeRing ring = begin(0, 0);
        ChangeId before = first(subscribe(null));
        for (int i = 0; i < HISTORY; i++) {
            change(ring, 1, i);
        }

        FakeSink after = subscribe(before);

        awaitEvents(after, HISTORY);
        assertThat(log.readings()).isZero();
    }

    @Test
    void aStalledReaderOfAReplayIsDropped() {
        ChangeRing ring = begin(0, 0);
        ChangeId before = first(subscribe(null));
        for (int i = 0; i < 2 * HISTORY; i++) {
            change(ring, 0, i);
        }
        FakeSink client = new FakeSink();
        client.stopReading();

        assertThat(subscribers.subscribe(before, CollectionFilter.ALL, subscription -> client))
                .isEqualTo(Admission.ADMITTED);

        await().until(() -> client.types().contains("dropped"));
        assertThat(client.events()).hasSizeLessThan(20);
    }

    @Test
    void anIdOfARecreatedTopicResets() {
        ChangeRing ring = begin(6, 0);
        FakeSink client = subscribe(ChangeId.of(77, NOW.getEpochSecond(), new long[] {1, 1}));
        ring.changed(0, 6, LiveRows.track(1), LiveRows.row("br-1", 1));

        awaitEvents(client, 2);
        assertThat(client.texts().getFirst()).isEqualTo("reset {\"reason\":\"other-topic\"}");
        assertThat(ChangeId.parse(Objects.requireNonNull(
                                client.events().getFirst().id()))
                        .topicHash())
                .isEqualTo(ring.topicHash());
        assertThat(client.texts().getLast()).contains("music:tracks:1");
    }

    @Test
    void anIdOfOtherPartitionsResets() {
        begin(6, 0);
        FakeSink client = subscribe(ChangeId.of(ChangeId.topicHash(TOPIC), NOW.getEpochSecond(), new long[] {6}));

        awaitEvents(client, 1);
        assertThat(client.types()).containsExactly("reset");
    }

    @Test
    void anIdOlderThanTombstonesResetsUnlessNothingHasChangedSince() {
        begin(6, 0);
        Instant old = NOW.minus(Duration.ofDays(7));
        FakeSink unchanged = subscribe(ChangeId.of(ChangeId.topicHash(TOPIC), old.getEpochSecond(), new long[] {6, 0}));
        FakeSink behind = subscribe(ChangeId.of(ChangeId.topicHash(TOPIC), old.getEpochSecond(), new long[] {4, 0}));

        awaitEvents(behind, 1);
        assertThat(behind.texts()).containsExactly("reset {\"reason\":\"too-old\"}");
        await().until(() -> unchanged.lastId() != null);
        assertThat(unchanged.events()).isEmpty();
        assertThat(log.readings()).isZero();
    }

    @Test
    void deletedRecordsReset() {
        begin(6, 0);
        log.deleteBefore(5);
        FakeSink client = subscribe(ChangeId.of(ChangeId.topicHash(TOPIC), NOW.getEpochSecond(), new long[] {4, 0}));

        awaitEvents(client, 1);
        assertThat(client.texts()).containsExactly("reset {\"reason\":\"gone\"}");
        assertThat(id(client).nextOffsets()).containsExactly(6, 0);
    }

    @Test
    void aReplayThatFailsEndsTheStreamSoThatItIsTriedAgain() {
        begin(6, 0);
        log.goAway();
        FakeSink client = subscribe(ChangeId.of(ChangeId.topicHash(TOPIC), NOW.getEpochSecond(), new long[] {4, 0}));

        awaitEvents(client, 1);
        assertThat(client.texts()).containsExactly("bye {\"reason\":\"failed\"}");
        await().until(() -> streamCount() == 0);
    }

    @Test
    void aReplayThatFailsWithAnErrorEndsItsStreamToo() {
        begin(6, 0);
        log.failWith(new OutOfMemoryError("a test's"));
        FakeSink client = subscribe(ChangeId.of(ChangeId.topicHash(TOPIC), NOW.getEpochSecond(), new long[] {4, 0}));

        awaitEvents(client, 1);
        assertThat(client.texts()).containsExactly("bye {\"reason\":\"failed\"}");
        await().until(() -> streamCount() == 0);
    }

    @Test
    void limitsTheNumberOfReplays() {
        begin(6, 0);
        ChangeId older = ChangeId.of(ChangeId.topicHash(TOPIC), NOW.getEpochSecond(), new long[] {6, 0});
        ChangeId old = ChangeId.of(ChangeId.topicHash(TOPIC), NOW.getEpochSecond(), new long[] {0, 0});
        for (int i = 0; i < 3; i++) {
            log.add(0, LiveRows.track(i), LiveRows.row("br-1", i), true);
        }
        CountDownLatch held = log.hold();
        FakeSink first = subscribe(old);
        await().until(() -> log.readings() == 1);

        assertThat(admission(old)).isEqualTo(Admission.TOO_MANY_REPLAYS);
        assertThat(admission(older)).isEqualTo(Admission.ADMITTED);
        held.countDown();

        awaitEvents(first, 3);
        await().until(() ->
                subscribers.subscribe(old, CollectionFilter.ALL, subscription -> new FakeSink()) == Admission.ADMITTED);
    }

    /** Adds an erasure to the log, to the ring and to the table. */
    private void erase(ChangeRing ring, int partition, int number) {
        erased.add(LiveRows.track(number));
        long offset = log.end(partition);
        log.add(partition, LiveRows.track(number), null, true);
        ring.changed(partition, offset, LiveRows.track(number), null);
    }
}

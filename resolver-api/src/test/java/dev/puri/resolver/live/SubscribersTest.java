package dev.puri.resolver.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.http.ServerSentEvent;
import dev.puri.resolver.live.Subscribers.Admission;
import dev.puri.schemas.identity.Puri;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
final class SubscribersTest {
    private static final Uuid TOPIC = new Uuid(1, 2);
    private static final Instant NOW = Instant.parse("2026-03-10T00:00:00Z");
    private static final int HISTORY = 64;
    private static final Duration MAX_AGE = Duration.ofHours(1);

    private final FakeLog log = new FakeLog(2);
    private final AtomicReference<Instant> now = new AtomicReference<>(NOW);
    private final Set<Puri> erased = ConcurrentHashMap.newKeySet();
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final Subscribers subscribers = Subscribers.start(
            new ChangesOptions(
                    HISTORY, MAX_AGE, 3, 1, 1_000, Duration.ofMillis(50), Duration.ofDays(6), Duration.ofMillis(300)),
            log,
            LiveRows.VALUES,
            now::get,
            meters);

    @AfterEach
    void stop() {
        subscribers.close();
    }

    @Test
    void sendsChangesFromNowOn() {
        ChangeRing ring = begin(0, 0);
        change(ring, 0, 1);
        FakeSink client = subscribe(null);
        change(ring, 1, 2);
        ring.changed(0, 2, LiveRows.track(1), null);
        ring.changed(1, 2, LiveRows.track(2).toBytes(), LiveRows.bytes(LiveRows.row("br-7", 2)), null);
        ring.changed(0, 4, LiveRows.track(3).toBytes(), null, null);

        awaitEvents(client, 4);
        assertThat(client.types()).containsExactly("changed", "erased", "changed", "erased");
        assertThat(client.events().getFirst().data()).contains("\"puri\":\"music:tracks:2\"");
        assertThat(client.events().get(1).data()).isEqualTo("{\"puri\":\"music:tracks:1\"}");
        assertThat(client.events().get(2).data())
                .isEqualTo(ChangeJson.changed(LiveRows.track(2), LiveRows.row("br-7", 2)));
        assertThat(client.events().getLast().data()).isEqualTo("{\"puri\":\"music:tracks:3\"}");
    }

    @Test
    void anIdleSubscriberReceivesItsId() {
        begin(4, 8);
        FakeSink client = subscribe(null);

        await().until(() -> client.lastId() != null);
        assertThat(id(client).nextOffsets()).containsExactly(4, 8);
        assertThat(client.events()).isEmpty();
    }

    @Test
    void idlePartitionsAndChangesOfOthersStayInTheId() {
        ChangeRing ring = begin(0, 0);
        FakeSink client = subscribe(null, "art:pictures");
        change(ring, 0, 1);
        ring.reached(1, 90);
        ring.completeAt(NOW.plusSeconds(5));

        await().until(() -> client.lastId() != null && id(client).nextOffsets()[1] == 90);
        assertThat(id(client).nextOffsets()).containsExactly(1, 90);
        assertThat(id(client).seconds()).isEqualTo(NOW.plusSeconds(5).getEpochSecond());
        assertThat(client.events()).isEmpty();
    }

    @Test
    void sendsOnlyTheRequestedCollections() {
        ChangeRing ring = begin(0, 0);
        FakeSink pictures = subscribe(null, "Art:Pictures", "art:films");
        FakeSink all = subscribe(null);
        change(ring, 0, 1);
        ring.changed(0, 2, Puri.parse("art:pictures:1"), LiveRows.row("br-1", 2));
        ring.changed(0, 4, Puri.parse("art:pictures-2:1"), LiveRows.row("br-1", 3));
        ring.changed(0, 6, Puri.parse("art:films:1"), LiveRows.row("br-1", 4));

        awaitEvents(all, 4);
        awaitEvents(pictures, 2);
        assertThat(pictures.texts().getFirst()).contains("art:pictures:1");
        assertThat(pictures.texts().getLast()).contains("art:films:1");
        assertThat(pictures.events().getLast().id())
                .isEqualTo(all.events().getLast().id());
    }

    @Test
    void sendsEveryChangeAfterTheFirstId() throws Exception {
        ChangeRing ring = begin(0, 0);
        Thread changing = Thread.ofPlatform().start(() -> {
            for (int number = 0; number < 300_000; number++) {
                ring.changed(0, number, LiveRows.track(1).toBytes(), null, null);
            }
        });
        while (changing.isAlive()) {
            Subscription client = new Subscription(subscribers, ChangeFilter.ALL, 1_000, ring, null);

            // Here the number of a change is its offset, so the next change must not be after the id.
            assertThat(client.nextNumber()).isLessThanOrEqualTo(client.nextOffsets()[0]);
        }
        changing.join();
    }

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
        await().until(() -> {
            now.updateAndGet(time -> time.plusSeconds(60));
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
    void onlyTheSlowReaderIsDroppedWithAReason() {
        ChangeRing ring = begin(0, 0);
        FakeSink slow = subscribe(null);
        FakeSink quick = subscribe(null);
        slow.stopReading();
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < HISTORY / 2; j++) {
                change(ring, 0, j);
            }
            awaitEvents(quick, (i + 1) * HISTORY / 2);
        }

        await().until(() -> slow.types().contains("dropped"));
        assertThat(slow.texts().getLast()).isEqualTo("dropped {\"reason\":\"slow-reader\"}");
        assertThat(slow.events()).hasSizeLessThan(20);
        assertThat(quick.types()).containsOnly("changed");
        assertThat(subscribers.streamCount()).isEqualTo(1);
        assertThat(meters.get("puri.changes.dropped")
                        .tag("reason", "slow-reader")
                        .counter()
                        .count())
                .isOne();
    }

    @Test
    void aReaderThatContinuesInTimeMissesNothing() {
        ChangeRing ring = begin(0, 0);
        FakeSink client = subscribe(null);
        await().until(() -> client.lastId() != null);
        client.stopReading();
        for (int i = 0; i < HISTORY; i++) {
            change(ring, 0, i);
        }
        await().until(() -> client.pendingBytes() >= 1_000);
        assertThat(client.events()).hasSizeLessThan(20);

        client.readOn();

        awaitEvents(client, HISTORY);
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

        assertThat(subscribers.subscribe(before, ChangeFilter.ALL, subscription -> client))
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
        await().until(() -> subscribers.streamCount() == 0);
    }

    @Test
    void aReplayThatFailsWithAnErrorEndsItsStreamToo() {
        begin(6, 0);
        log.failWith(new OutOfMemoryError("a test's"));
        FakeSink client = subscribe(ChangeId.of(ChangeId.topicHash(TOPIC), NOW.getEpochSecond(), new long[] {4, 0}));

        awaitEvents(client, 1);
        assertThat(client.texts()).containsExactly("bye {\"reason\":\"failed\"}");
        await().until(() -> subscribers.streamCount() == 0);
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
                subscribers.subscribe(old, ChangeFilter.ALL, subscription -> new FakeSink()) == Admission.ADMITTED);
    }

    @Test
    void limitsTheNumberOfSubscribers() {
        assertThat(admission(null)).isEqualTo(Admission.NOT_READY);
        begin(0, 0);
        AtomicReference<@Nullable Subscription> one = new AtomicReference<>();
        assertThat(subscribers.subscribe(null, ChangeFilter.ALL, subscription -> {
                    one.set(subscription);
                    return new FakeSink();
                }))
                .isEqualTo(Admission.ADMITTED);
        subscribe(null);
        subscribe(null);
        assertThat(admission(null)).isEqualTo(Admission.TOO_MANY_STREAMS);

        Objects.requireNonNull(one.get()).cancel();
        Objects.requireNonNull(one.get()).cancel();

        assertThat(admission(null)).isEqualTo(Admission.ADMITTED);
        assertThat(admission(null)).isEqualTo(Admission.TOO_MANY_STREAMS);
    }

    @Test
    void aReplacedTableNeitherRepeatsNorOmitsChanges() {
        ChangeRing first = begin(0, 0);
        FakeSink client = subscribe(null);
        change(first, 0, 1);
        change(first, 1, 2);
        awaitEvents(client, 2);
        // These changes arrive while the next table is restored, so no ring has them.
        log.add(0, LiveRows.track(3), LiveRows.row("br-3", 3), true);
        log.add(1, LiveRows.track(4), LiveRows.row("br-4", 4), true);

        ChangeRing second = subscribers.startRing(TOPIC, new long[] {log.end(0), log.end(1)}, NOW, this::isThere);
        change(second, 0, 5);

        awaitEvents(client, 5);
        assertThat(client.types()).containsOnly("changed");
        assertThat(client.texts()).doesNotHaveDuplicates();
        for (int number = 1; number <= 5; number++) {
            String name = "music:tracks:" + number;
            assertThat(client.texts()).anyMatch(text -> text.contains(name));
        }
    }

    @Test
    void aRecreatedTopicResetsCurrentSubscribers() {
        begin(0, 0);
        FakeSink client = subscribe(null);
        await().until(() -> client.lastId() != null);

        ChangeRing other = subscribers.startRing(new Uuid(3, 3), new long[] {0, 0}, NOW, this::isThere);
        awaitEvents(client, 1);
        change(other, 0, 5);

        awaitEvents(client, 2);
        assertThat(client.types()).containsExactly("reset", "changed");
    }

    @Test
    void drainSendsByeAndAdmitsNoSubscribers() {
        begin(0, 0);
        FakeSink client = subscribe(null);

        subscribers.drain();

        assertThat(client.texts()).containsExactly("bye {\"reason\":\"stopping\"}");
        assertThat(client.events().getFirst().retry()).isEqualTo("1000");
        assertThat(admission(null)).isEqualTo(Admission.ENDING);
        assertThat(subscribers.streamCount()).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aBrokenStreamHarmsNoOther(boolean byAnError) {
        ChangeRing ring = begin(0, 0);
        FakeSink client = subscribe(null);
        assertThat(subscribers.subscribe(null, ChangeFilter.ALL, subscription -> new Sink() {
                    @Override
                    public boolean offer(ServerSentEvent event) {
                        if (byAnError) {
                            throw new StackOverflowError();
                        }
                        throw new IllegalStateException("a bug");
                    }

                    @Override
                    public int pendingBytes() {
                        return 0;
                    }

                    @Override
                    public void end(ServerSentEvent event) {}
                }))
                .isEqualTo(Admission.ADMITTED);

        change(ring, 0, 1);

        awaitEvents(client, 1);
        await().until(() -> subscribers.streamCount() == 1);
    }

    private ChangeRing begin(long... begins) {
        return subscribers.startRing(TOPIC, begins, NOW, this::isThere);
    }

    /** Adds a change to the log and to the ring. */
    private void change(ChangeRing ring, int partition, int number) {
        long offset = log.end(partition);
        log.add(partition, LiveRows.track(number), LiveRows.row("br-1", offset), true);
        ring.changed(partition, offset, LiveRows.track(number), LiveRows.row("br-1", offset));
    }

    /** Adds an erasure to the log, to the ring and to the table. */
    private void erase(ChangeRing ring, int partition, int number) {
        erased.add(LiveRows.track(number));
        long offset = log.end(partition);
        log.add(partition, LiveRows.track(number), null, true);
        ring.changed(partition, offset, LiveRows.track(number), null);
    }

    private boolean isThere(Puri puri, UUID uuid) {
        return uuid.equals(LiveRows.UUID_7) && !erased.contains(puri);
    }

    private FakeSink subscribe(@Nullable ChangeId last, String... collections) {
        FakeSink client = new FakeSink();
        assertThat(subscribers.subscribe(last, ChangeFilter.parse(List.of(collections)), subscription -> client))
                .isEqualTo(Admission.ADMITTED);
        return client;
    }

    private Admission admission(@Nullable ChangeId last) {
        return subscribers.subscribe(last, ChangeFilter.ALL, subscription -> new FakeSink());
    }

    private static ChangeId id(FakeSink client) {
        return Objects.requireNonNull(client.lastId());
    }

    /** Returns the first id that a client receives. */
    private static ChangeId first(FakeSink client) {
        await().until(() -> client.lastId() != null);
        return id(client);
    }

    private static void awaitEvents(FakeSink client, int count) {
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertThat(client.events().size()).isEqualTo(count));
    }
}

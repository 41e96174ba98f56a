package dev.puri.resolver.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.http.ServerSentEvent;
import dev.puri.resolver.live.Subscribers.Admission;
import dev.puri.schemas.identity.Puri;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Subscribers that receive changes while they happen, and their limits. */
final class SubscribersTest extends RunningSubscribers {
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
            Subscription client = new Subscription(subscribers, CollectionFilter.ALL, 1_000, ring, null);

            // Here the number of a change is its offset, so the next change must not be after the id.
            assertThat(client.nextNumber()).isLessThanOrEqualTo(client.nextOffsets()[0]);
        }
        changing.join();
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
        assertThat(streamCount()).isEqualTo(1);
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
    void limitsTheNumberOfSubscribers() {
        assertThat(admission(null)).isEqualTo(Admission.NOT_READY);
        begin(0, 0);
        AtomicReference<@Nullable Subscription> one = new AtomicReference<>();
        assertThat(subscribers.subscribe(null, CollectionFilter.ALL, subscription -> {
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
    void aStreamThatCannotBeOpenedDoesNotCount() {
        begin(0, 0);
        for (Throwable failure : List.of(new IllegalStateException("injected"), new OutOfMemoryError("injected"))) {
            assertThatThrownBy(() -> subscribers.subscribe(null, CollectionFilter.ALL, subscription -> {
                        if (failure instanceof Error error) {
                            throw error;
                        }
                        throw (IllegalStateException) failure;
                    }))
                    .isSameAs(failure);
            assertThat(streamCount()).isZero();
        }
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

        ChangeRing second = begin(log.end(0), log.end(1));
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

        ChangeRing other = serve(subscribers, new Uuid(3, 3), new long[] {0, 0}, NOW, this::isThere);
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
        assertThat(admission(null)).isEqualTo(Admission.DRAINING);
        assertThat(streamCount()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"false, false", "true, false", "false, true"})
    void aBrokenStreamHarmsNoOtherAndIsCounted(boolean byAnError, boolean cannotEnd) {
        ChangeRing ring = begin(0, 0);
        FakeSink client = subscribe(null);
        assertThat(subscribers.subscribe(null, CollectionFilter.ALL, subscription -> new Sink() {
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
                    public void end(ServerSentEvent event) {
                        if (cannotEnd) {
                            throw new IllegalStateException("a bug");
                        }
                    }
                }))
                .isEqualTo(Admission.ADMITTED);

        change(ring, 0, 1);

        awaitEvents(client, 1);
        await().until(() -> streamCount() == 1);
        await().untilAsserted(() -> assertThat(meters.get("puri.changes.dropped")
                        .tag("reason", "failed")
                        .counter()
                        .count())
                .isOne());
    }
}

package dev.puri.resolver.live;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiPredicate;
import org.apache.kafka.common.Uuid;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;

/** Base of tests of subscribers: they run with a small ring over {@link FakeLog}, with a clock that the test sets. */
@Timeout(60)
abstract class RunningSubscribers {
    static final Uuid TOPIC = new Uuid(1, 2);
    static final Instant NOW = Instant.parse("2026-03-10T00:00:00Z");
    static final int HISTORY = 64;
    static final Duration MAX_AGE = Duration.ofHours(1);

    final FakeLog log = new FakeLog(2);
    final AtomicReference<Instant> now = new AtomicReference<>(NOW);
    final Set<Puri> erased = ConcurrentHashMap.newKeySet();
    final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    final Subscribers subscribers = Subscribers.start(
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

    ChangeRing begin(long... begins) {
        return serve(subscribers, TOPIC, begins, NOW, this::isThere);
    }

    /** Starts the ring of a table that serves at once. */
    static ChangeRing serve(
            Subscribers subscribers, Uuid topic, long[] begins, Instant completeAt, BiPredicate<Puri, UUID> exists) {
        ChangeRing ring = subscribers.create(topic, begins, completeAt, exists);
        subscribers.serves(ring);
        return ring;
    }

    /** Adds a change to the log and to the ring. */
    void change(ChangeRing ring, int partition, int number) {
        long offset = log.end(partition);
        log.add(partition, LiveRows.track(number), LiveRows.row("br-1", offset), true);
        ring.changed(partition, offset, LiveRows.track(number), LiveRows.row("br-1", offset));
    }

    boolean isThere(Puri puri, UUID uuid) {
        return uuid.equals(LiveRows.UUID_7) && !erased.contains(puri);
    }

    FakeSink subscribe(@Nullable ChangeId last, String... collections) {
        FakeSink client = new FakeSink();
        assertThat(subscribers.subscribe(last, CollectionFilter.parse(List.of(collections)), subscription -> client))
                .isEqualTo(Admission.ADMITTED);
        return client;
    }

    Admission admission(@Nullable ChangeId last) {
        return subscribers.subscribe(last, CollectionFilter.ALL, subscription -> new FakeSink());
    }

    /** Waits, and looks every 10 ms, because subscribers answer within milliseconds. */
    static ConditionFactory await() {
        return Awaitility.await().pollInterval(Duration.ofMillis(10));
    }

    double streamCount() {
        return meters.get("puri.changes.streams").gauge().value();
    }

    static ChangeId id(FakeSink client) {
        return Objects.requireNonNull(client.lastId());
    }

    /** Returns the first id that a client receives. */
    static ChangeId first(FakeSink client) {
        await().until(() -> client.lastId() != null);
        return id(client);
    }

    static void awaitEvents(FakeSink client, int count) {
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() -> assertThat(client.events().size()).isEqualTo(count));
    }
}

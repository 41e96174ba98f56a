package dev.puri.client.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.client.Events;
import dev.puri.client.PublishException;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.EventAvro;
import dev.puri.schemas.log.Position;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LeaderSessionTest {
    private static final Event EVENT =
            new Events("outbox-test").deleted(Puri.parse("a:b:c")).build();
    private static final Exception EXPIRED =
            new org.apache.kafka.common.errors.TimeoutException("30000 ms has passed since batch creation");
    private static final RelaySettings SETTINGS = RelaySettings.of(
            TestDatabase.dataSource(Dialect.POSTGRESQL, "jdbc:postgresql://127.0.0.1:1/none"),
            Dialect.POSTGRESQL,
            Map.of("ssl.key.password", "hidden"));

    private final List<Long> waits = new ArrayList<>();
    private final Map<OutboxRow, CompletableFuture<@Nullable Void>> wave = new LinkedHashMap<>();

    /** MySQL and MariaDB end an idle session, which has the lock of the leader. */
    @Test
    void theTableIsReadAtLeastEveryFiveMinutes() {
        Duration hour = Duration.ofHours(1);
        assertThat(SETTINGS.withTimes(hour, hour, hour).pollInterval()).isEqualTo(Duration.ofMinutes(5));
        assertThat(SETTINGS.withTimes(Duration.ofMinutes(4), hour, hour).pollInterval())
                .isEqualTo(Duration.ofMinutes(4));
    }

    /** A response that never arrives. */
    private final class Missing extends CompletableFuture<@Nullable Void> {
        @Override
        public @Nullable Void get(long timeout, TimeUnit unit) throws TimeoutException {
            waits.add(unit.toNanos(timeout));
            throw new TimeoutException();
        }
    }

    private OutboxRow send(String puri, CompletableFuture<@Nullable Void> answer) {
        OutboxRow row = new OutboxRow(wave.size() + 1L, new UUID(0, wave.size()), puri, new byte[0], null, null);
        wave.put(row, answer);
        return row;
    }

    @Test
    void waitsOnceForAWaveThatIsNotAnswered() throws Exception {
        send("a:b:2", new Missing());
        send("a:b:3", new Missing());
        LeaderSession.WaveResult result = LeaderSession.awaitResult(wave, 1_000_000);
        assertThat(result.published()).isEmpty();
        assertThat(result.refused()).isEmpty();
        assertThat(result.failed()).hasSize(2);
        assertThat(result.failure()).isInstanceOf(TimeoutException.class);
        assertThat(waits).singleElement().satisfies(wait -> assertThat(wait).isBetween(0L, 1_000_000L));
    }

    @Test
    void rowsThatTimeOutWhileAnotherIsAcknowledgedAreRefused() throws Exception {
        send("a:b:1", new Missing());
        OutboxRow answered = send("a:b:2", CompletableFuture.completedFuture(null));
        Throwable late = new PublishException(EVENT, "puri.events.v1", "localhost:9092", EXPIRED);
        send("a:b:3", CompletableFuture.failedFuture(late));
        OutboxRow ofRegistry = send("a:b:4", CompletableFuture.failedFuture(new IllegalStateException("closed")));
        LeaderSession.WaveResult result = LeaderSession.awaitResult(wave, 1_000_000);
        assertThat(result.published()).containsExactly(answered);
        assertThat(result.refused().keySet())
                .extracting(OutboxRow::aggregateid)
                .containsExactlyInAnyOrder("a:b:1", "a:b:3");
        assertThat(result.failed()).containsOnlyKeys(ofRegistry);
    }

    /** The broker acknowledges nothing of a:b:1, whose partition has no leader. */
    private static CompletionStage<Position> publish(Event event) {
        return event.puri().equals(Puri.parse("a:b:1"))
                ? CompletableFuture.failedFuture(
                        new PublishException(event, "puri.events.v1", "localhost:9092", EXPIRED))
                : CompletableFuture.completedFuture(new Position("puri.events.v1", 0, 0));
    }

    private static LeaderSession session(FakeDatabase database) {
        RowPublisher publisher =
                new RowPublisher((event, headers) -> publish(event), () -> {}, namespace -> false, System::nanoTime);
        return new LeaderSession(
                SETTINGS,
                database.connection(),
                new OutboxTables(Dialect.POSTGRESQL, "puri_outbox"),
                publisher,
                () -> false);
    }

    @Test
    void anUnavailablePartitionBlocksOnlyItsOwnRows() throws Exception {
        FakeDatabase database = new FakeDatabase();
        List<Object[]> rows = List.of(stored(1, "a:b:2"), stored(2, "a:b:1"));
        List<Object[]> first = List.<Object[]>of(new Object[] {2L});
        database.rows = sql -> sql.contains("MIN(seq)") ? first : sql.contains("FROM puri_outbox ") ? rows : List.of();
        try (LeaderSession session = session(database)) {
            assertThat(session.poll()).isEqualTo(2);
        }
        assertThat(database.statements)
                .filteredOn(sql -> sql.startsWith("INSERT INTO puri_outbox_blocked"))
                .hasSize(1);
    }

    @Test
    void rowsThatFailWhenTheyAreTriedAgainWaitAndTheOutboxIsPolled() throws Exception {
        FakeDatabase database = new FakeDatabase();
        List<Object[]> blocked = List.<Object[]>of(stored(1, "a:b:1"));
        List<Object[]> fresh = List.<Object[]>of(stored(2, "a:b:2"));
        database.rows = sql ->
                sql.contains("WHERE retry_ms <=") ? blocked : sql.contains("FROM puri_outbox ") ? fresh : List.of();
        try (LeaderSession session = session(database)) {
            LeaderSession.Pass pass = session.runPass(false);
            assertThat(pass.polled()).isEqualTo(1);
            assertThat(pass.problem()).hasMessageContaining("publishing failed");
        }
        assertThat(database.statements)
                .anyMatch(sql -> sql.contains("retry_ms = ? WHERE seq = 1"))
                .contains("DELETE FROM puri_outbox WHERE seq = ?");
    }

    @Test
    void aSessionEndsWhenRowsFailThatAreTriedAgainAndThereAreNoOthers() throws Exception {
        FakeDatabase database = new FakeDatabase();
        List<Object[]> blocked = List.<Object[]>of(stored(1, "a:b:1"));
        database.rows = sql -> sql.contains("WHERE retry_ms <=") ? blocked : List.of();
        try (LeaderSession session = session(database)) {
            assertThatThrownBy(() -> session.runPass(true)).isInstanceOf(RelayException.class);
        }
        assertThat(database.statements).anyMatch(sql -> sql.contains("retry_ms = ? WHERE seq = 1"));
    }

    @Test
    void settingsShowNamesOfPropertiesAlone() {
        assertThat(SETTINGS.toString()).contains("ssl.key.password").doesNotContain("hidden");
    }

    private static Object[] stored(int seq) throws Exception {
        return stored(seq, "a:b:1");
    }

    private static Object[] stored(int seq, String puri) throws Exception {
        Event event = new Events("outbox-test").deleted(Puri.parse(puri)).build();
        ByteBuffer encoded = EventAvro.toAvro(event).toByteBuffer();
        byte[] payload = new byte[encoded.remaining()];
        encoded.get(payload);
        return new Object[] {
            (long) seq, event.eventId().toString(), event.puri().toString(), payload, "", ""
        };
    }

    /** Rows of one pURI take a wave each. */
    @Test
    void noWaveStartsWhileTheRelayIsClosing() throws Exception {
        FakeDatabase database = new FakeDatabase();
        List<Object[]> rows = List.of(stored(1), stored(2), stored(3));
        database.rows = sql -> sql.contains("FROM puri_outbox ") ? rows : List.of();
        AtomicBoolean isClosing = new AtomicBoolean();
        AtomicInteger sent = new AtomicInteger();
        RowPublisher publisher = new RowPublisher(
                (event, headers) -> {
                    isClosing.set(sent.incrementAndGet() == 2);
                    return CompletableFuture.completedFuture(new Position("puri.events.v1", 0, 0));
                },
                () -> {},
                namespace -> false,
                System::nanoTime);
        OutboxTables tables = new OutboxTables(Dialect.POSTGRESQL, "puri_outbox");
        try (LeaderSession session =
                new LeaderSession(SETTINGS, database.connection(), tables, publisher, isClosing::get)) {
            session.poll();
        }
        assertThat(sent).hasValue(2);
    }
}

package dev.puri.client.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.client.Events;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.EventAvro;
import dev.puri.schemas.log.Position;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LeaderSessionTest {
    private final List<Long> waits = new ArrayList<>();
    private final Map<OutboxRow, CompletableFuture<@Nullable Void>> wave = new LinkedHashMap<>();

    /** An answer that never comes. */
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
        OutboxRow answered = send("a:b:1", CompletableFuture.completedFuture(null));
        send("a:b:2", new Missing());
        send("a:b:3", new Missing());
        LeaderSession.Answers answers = LeaderSession.answers(wave, 1_000_000);
        assertThat(answers.published()).containsExactly(answered);
        assertThat(answers.refused()).isEmpty();
        assertThat(answers.failure()).isInstanceOf(TimeoutException.class);
        assertThat(waits).singleElement().satisfies(wait -> assertThat(wait).isBetween(0L, 1_000_000L));
    }

    private static Object[] stored(int seq) throws Exception {
        Event event = new Events("outbox-test").deleted(Puri.parse("a:b:1")).build();
        ByteBuffer encoded = EventAvro.toAvro(event).toByteBuffer();
        byte[] payload = new byte[encoded.remaining()];
        encoded.get(payload);
        return new Object[] {
            (long) seq, event.eventId().toString(), event.puri().toString(), payload, "", ""
        };
    }

    /** Rows of one pURI take a wave each. */
    @Test
    void noWaveBeginsOnceTheRelayIsBeingClosed() throws Exception {
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
        RelaySettings settings = RelaySettings.of(
                TestDatabase.dataSource(Dialect.POSTGRESQL, "jdbc:postgresql://127.0.0.1:1/none"),
                Dialect.POSTGRESQL,
                Map.of());
        try (LeaderSession session =
                new LeaderSession(settings, database.connection(), tables, publisher, isClosing::get)) {
            session.poll();
        }
        assertThat(sent).hasValue(2);
    }
}

package dev.puri.client.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

class OutboxRelayTest {
    private final CountDownLatch never = new CountDownLatch(1);

    private static RelaySettings settings(DataSource dataSource) {
        Duration millisecond = Duration.ofMillis(1);
        // The port is not used, so no broker answers.
        Map<String, String> properties =
                Map.of("bootstrap.servers", "127.0.0.1:1", "schema.registry.url", "http://127.0.0.1:1");
        return RelaySettings.of(dataSource, Dialect.POSTGRESQL, properties)
                .withTimes(millisecond, millisecond, millisecond);
    }

    /** Returns a data source that calls a function for each connection of another thread. */
    private static DataSource dataSource(FakeDatabase database, Supplier<Connection> connections) {
        Thread test = Thread.currentThread();
        return FakeDatabase.fake(
                DataSource.class,
                (proxy, method, arguments) ->
                        Thread.currentThread() == test ? database.connection() : connections.get());
    }

    /** If the thread of the relay ended, rows would wait until the service is restarted. */
    @Test
    void anErrorIsReportedAndRetried() throws Exception {
        FakeDatabase database = new FakeDatabase();
        database.rows = sql -> sql.startsWith("SELECT aggregateid") ? List.of() : List.<Object[]>of(new Object[] {0L});
        CountDownLatch attempts = new CountDownLatch(3);
        DataSource dataSource = dataSource(database, () -> {
            attempts.countDown();
            throw new OutOfMemoryError("injected");
        });
        try (OutboxRelay relay = OutboxRelay.start(settings(dataSource))) {
            assertThat(attempts.await(60, TimeUnit.SECONDS)).isTrue();
            assertThat(relay.status().problem()).isEqualTo("java.lang.OutOfMemoryError: injected");
        }
    }

    @Test
    void anErrorOfTheLeaderReleasesItsLockAndIsRetried() throws Exception {
        FakeDatabase database = new FakeDatabase();
        CountDownLatch attempts = new CountDownLatch(3);
        CountDownLatch releases = new CountDownLatch(2);
        database.rows = sql -> {
            if (sql.startsWith("SELECT aggregateid")) {
                attempts.countDown();
                throw new OutOfMemoryError("injected");
            }
            if (sql.contains("pg_advisory_unlock")) {
                releases.countDown();
            }
            return List.<Object[]>of(new Object[] {1});
        };
        try (OutboxRelay relay = OutboxRelay.start(settings(dataSource(database, database::connection)))) {
            assertThat(attempts.await(60, TimeUnit.SECONDS)).isTrue();
            assertThat(releases.await(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    /** A lack of memory may also prevent the report of the failure. */
    @Test
    void aFailureThatCannotBeReportedIsRetriedAndInTheStatus() throws Exception {
        FakeDatabase database = new FakeDatabase();
        database.rows = sql -> sql.startsWith("SELECT aggregateid") ? List.of() : List.<Object[]>of(new Object[] {0L});
        CountDownLatch attempts = new CountDownLatch(3);
        DataSource dataSource = dataSource(database, () -> {
            attempts.countDown();
            throw new UnprintableException();
        });
        try (OutboxRelay relay = OutboxRelay.start(settings(dataSource))) {
            assertThat(attempts.await(60, TimeUnit.SECONDS)).isTrue();
            assertThat(relay.status().problem()).isEqualTo("a failure that could not be reported");
        }
    }

    private static final class UnprintableException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        @Override
        public String toString() {
            throw new OutOfMemoryError("injected");
        }
    }

    private Thread started(Runnable afterInterrupt) {
        Thread thread = new Thread(() -> {
            try {
                never.await();
            } catch (InterruptedException e) {
                afterInterrupt.run();
            }
        });
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    /** It closes its publisher and releases its lock meanwhile. */
    @Test
    void waitsForAnInterruptedRelayToEnd() throws Exception {
        Thread relay = started(() -> new CompletableFuture<Boolean>()
                .completeOnTimeout(true, 50, TimeUnit.MILLISECONDS)
                .join());
        assertThat(OutboxRelay.endsWithin(relay, Duration.ofMillis(1), Duration.ofSeconds(60)))
                .isTrue();
        assertThat(relay.isAlive()).isFalse();
    }

    @Test
    void aRelayThatDoesNotEndIsReported() throws Exception {
        CompletableFuture<Boolean> end = new CompletableFuture<>();
        Thread relay = started(end::join);
        assertThat(OutboxRelay.endsWithin(relay, Duration.ofMillis(1), Duration.ofMillis(1)))
                .isFalse();
        end.complete(true);
        assertThat(OutboxRelay.endsWithin(relay, Duration.ofSeconds(60), Duration.ofMillis(1)))
                .isTrue();
    }
}

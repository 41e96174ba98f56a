package dev.puri.client.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

class OutboxRelayTest {
    private final CountDownLatch never = new CountDownLatch(1);

    /** If the thread of the relay ended, rows would wait until the service is restarted. */
    @Test
    void anErrorIsReportedAndRetried() throws Exception {
        FakeDatabase database = new FakeDatabase();
        database.rows = sql -> sql.startsWith("SELECT aggregateid") ? List.of() : List.<Object[]>of(new Object[] {0L});
        CountDownLatch attempts = new CountDownLatch(3);
        Thread test = Thread.currentThread();
        DataSource dataSource = FakeDatabase.fake(DataSource.class, (proxy, method, arguments) -> {
            if (Thread.currentThread() == test) {
                return database.connection();
            }
            attempts.countDown();
            throw new OutOfMemoryError("injected");
        });
        Duration millisecond = Duration.ofMillis(1);
        RelaySettings settings = RelaySettings.of(dataSource, Dialect.POSTGRESQL, Map.of())
                .withTimes(millisecond, millisecond, millisecond);
        try (OutboxRelay relay = OutboxRelay.start(settings)) {
            assertThat(attempts.await(60, TimeUnit.SECONDS)).isTrue();
            assertThat(relay.status().problem()).isEqualTo("java.lang.OutOfMemoryError: injected");
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

package dev.puri.client.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class OutboxRelayTest {
    private final CountDownLatch never = new CountDownLatch(1);

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

package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LifetimeTest {
    /** Otherwise the process would end in the middle of the close of another thread. */
    @Test
    void aSecondCloseWaitsForTheFirst() throws Exception {
        CountDownLatch closing = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        AtomicInteger closedCount = new AtomicInteger();
        Lifetime.Closing lifetime = Lifetime.closeAtExit(() -> {
            closing.countDown();
            try {
                mayEnd.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            closedCount.incrementAndGet();
        });
        CompletableFuture<Void> first = CompletableFuture.runAsync(lifetime::close);
        closing.await();
        CompletableFuture<Integer> second = new CompletableFuture<>();
        Thread secondThread = Thread.ofPlatform().start(() -> {
            lifetime.close();
            second.complete(closedCount.get());
        });
        while (secondThread.isAlive() && secondThread.getState() != Thread.State.BLOCKED) {
            Thread.onSpinWait();
        }
        mayEnd.countDown();
        assertThat(second.get()).isOne();
        first.get();
    }
}

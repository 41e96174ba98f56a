package dev.puri.projection;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class SupervisedThreadTest {
    private static final Duration SOON = Duration.ofMillis(1);
    private static final Duration NEVER = Duration.ofDays(1);

    private final Stop stop = new Stop();
    private final List<Throwable> failures = new CopyOnWriteArrayList<>();
    private final CountDownLatch done = new CountDownLatch(1);

    @AfterEach
    void end() {
        stop.request();
    }

    @Test
    void reportsAnythingThrownAndTriesAgain() throws Exception {
        List<Throwable> thrown =
                List.of(new OutOfMemoryError("a test's"), new IOException(), new IllegalStateException());
        AtomicInteger tries = new AtomicInteger();
        start(RetryPolicy.fixed(SOON), failures::add, () -> {
            int at = tries.getAndIncrement();
            if (at < thrown.size()) {
                sneak(thrown.get(at));
            }
            done.countDown();
        });

        assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(failures).containsExactlyElementsOf(thrown);
    }

    @Test
    void aFailingReportDoesNotEndTheThread() throws Exception {
        AtomicInteger tries = new AtomicInteger();
        start(
                RetryPolicy.fixed(SOON),
                cause -> {
                    throw new OutOfMemoryError("a test's");
                },
                () -> {
                    if (tries.getAndIncrement() == 0) {
                        throw new IllegalStateException();
                    }
                    done.countDown();
                });

        assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void anInterruptWithoutAStopEndsOneAttemptOnly() throws Exception {
        CountDownLatch waits = new CountDownLatch(1);
        AtomicInteger tries = new AtomicInteger();
        SupervisedThread thread = start(RetryPolicy.fixed(SOON), failures::add, () -> {
            if (tries.getAndIncrement() == 0) {
                waits.countDown();
                new CountDownLatch(1).await();
            }
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            done.countDown();
        });
        assertThat(waits.await(30, TimeUnit.SECONDS)).isTrue();

        thread.interrupt();

        assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(failures).hasSize(1).first().isInstanceOf(InterruptedException.class);
    }

    @Test
    void aStopEndsTheDelayAndTheReports() throws Exception {
        SupervisedThread thread = start(RetryPolicy.fixed(NEVER), failures::add, () -> {
            done.countDown();
            assertThat(stop.awaitRequest(NEVER)).isTrue();
            throw new IllegalStateException("it was stopped");
        });
        assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();

        stop.request();

        assertThat(thread.join(Duration.ofSeconds(30))).isTrue();
        assertThat(failures).isEmpty();
    }

    private SupervisedThread start(
            RetryPolicy policy, Consumer<Throwable> onFailure, SupervisedThread.Attempt attempt) {
        SupervisedThread thread = new SupervisedThread("test", stop, policy, attempt, onFailure);
        thread.start();
        return thread;
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneak(Throwable thrown) throws T {
        throw (T) thrown;
    }
}

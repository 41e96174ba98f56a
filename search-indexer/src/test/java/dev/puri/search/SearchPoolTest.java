package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests which searches run, wait or are refused, with a clock that the test controls. */
@Timeout(60)
final class SearchPoolTest {
    private static final Duration MAX_WAIT = Duration.ofSeconds(1);

    private final AtomicLong nanos = new AtomicLong();
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final SearchPool pool = new SearchPool(1, 10, MAX_WAIT, nanos::get, meters);

    private final class Search implements SearchPool.Task {
        private final CountDownLatch started = new CountDownLatch(1);
        private final CountDownLatch mayEnd = new CountDownLatch(1);
        private final CountDownLatch ended = new CountDownLatch(1);
        private final Duration duration;
        private volatile @Nullable Duration refused;

        Search(Duration duration) {
            this.duration = duration;
        }

        @Override
        public boolean isOver() {
            return false;
        }

        @Override
        public void run() {
            started.countDown();
            try {
                assertThat(mayEnd.await(30, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            nanos.addAndGet(duration.toNanos());
            ended.countDown();
        }

        @Override
        public void refuse(Duration wait) {
            refused = wait;
            ended.countDown();
        }

        Search submit() {
            pool.submit(this);
            return this;
        }

        void awaitStart() throws InterruptedException {
            assertThat(started.await(30, TimeUnit.SECONDS)).isTrue();
        }

        void finish() throws InterruptedException {
            mayEnd.countDown();
            assertThat(ended.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    @AfterEach
    void close() {
        pool.close();
    }

    @Test
    void refusesASearchWhoseExpectedWaitIsTooLong() throws InterruptedException {
        // A duration of 16 s makes the mean 2 s.
        Search expensive = new Search(Duration.ofSeconds(16)).submit();
        expensive.awaitStart();
        expensive.finish();
        awaitIdle();
        Search running = new Search(Duration.ZERO).submit();
        running.awaitStart();

        Search refused = new Search(Duration.ZERO).submit();

        assertThat(refused.refused).isEqualTo(Duration.ofSeconds(2));
        assertThat(meters.get("puri.search.shed").counter().count()).isEqualTo(1);
        running.finish();
    }

    @Test
    void aCheapSearchDoesNotWaitBehindAnExpensiveOne() throws InterruptedException {
        Search expensive = new Search(Duration.ofSeconds(15)).submit();
        expensive.awaitStart();
        Search cheap = new Search(Duration.ZERO).submit();
        pool.shedOverdue();
        assertThat(cheap.refused).isNull();

        nanos.addAndGet(MAX_WAIT.toNanos() + 1);
        pool.shedOverdue();

        assertThat(cheap.ended.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(cheap.refused).isGreaterThan(MAX_WAIT);
        expensive.finish();
        assertThat(cheap.started.getCount()).isEqualTo(1);
    }

    @Test
    void continuesToRefuseAfterARefusalFailed() throws InterruptedException {
        Search expensive = new Search(Duration.ofSeconds(15)).submit();
        expensive.awaitStart();
        pool.submit(new SearchPool.Task() {
            @Override
            public boolean isOver() {
                return false;
            }

            @Override
            public void run() {}

            @Override
            public void refuse(Duration wait) {
                throw new IllegalStateException("cannot be refused");
            }
        });
        Search cheap = new Search(Duration.ZERO).submit();

        nanos.addAndGet(MAX_WAIT.toNanos() + 1);

        // The pool's thread refuses the search.
        assertThat(cheap.ended.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(cheap.refused).isGreaterThan(MAX_WAIT);
        expensive.finish();
    }

    @Test
    void doesNotRunASearchThatHasWaitedTooLong() throws InterruptedException {
        Search expensive = new Search(Duration.ofSeconds(15)).submit();
        expensive.awaitStart();
        Search cheap = new Search(Duration.ZERO).submit();

        expensive.finish();

        assertThat(cheap.ended.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(cheap.refused).isNotNull();
    }

    @Test
    void refusesNothingWhileAThreadIsIdle() throws InterruptedException {
        for (int i = 0; i < 5; i++) {
            Search expensive = new Search(Duration.ofSeconds(100)).submit();
            expensive.awaitStart();
            expensive.finish();
            awaitIdle();
        }
        assertThat(meters.get("puri.search.shed").counter().count()).isZero();
    }

    @Test
    void cheapSearchesQueue() throws InterruptedException {
        Search first = new Search(Duration.ofMillis(80)).submit();
        first.awaitStart();
        first.finish();
        awaitIdle();
        Search running = new Search(Duration.ofMillis(10)).submit();
        running.awaitStart();
        Search waiting = new Search(Duration.ofMillis(10)).submit();
        running.finish();

        waiting.awaitStart();
        waiting.finish();
        assertThat(waiting.refused).isNull();
    }

    /** Waits until the thread has counted the previous search as done, shortly after the end of that search. */
    private void awaitIdle() {
        while (!pool.isIdle()) {
            Thread.onSpinWait();
        }
    }
}

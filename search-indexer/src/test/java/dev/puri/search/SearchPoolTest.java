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

/** Who searches, who waits and who is refused, on a clock that a test moves. */
@Timeout(60)
final class SearchPoolTest {
    private static final Duration MAX_WAIT = Duration.ofSeconds(1);

    private final AtomicLong nanos = new AtomicLong();
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final SearchPool pool = new SearchPool(1, 10, MAX_WAIT, nanos::get, meters);

    private final class Search implements SearchPool.Task {
        private final CountDownLatch begun = new CountDownLatch(1);
        private final CountDownLatch mayEnd = new CountDownLatch(1);
        private final CountDownLatch over = new CountDownLatch(1);
        private final Duration takes;
        private volatile @Nullable Duration refused;

        Search(Duration takes) {
            this.takes = takes;
        }

        @Override
        public boolean isOver() {
            return false;
        }

        @Override
        public void run() {
            begun.countDown();
            try {
                assertThat(mayEnd.await(30, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            nanos.addAndGet(takes.toNanos());
            over.countDown();
        }

        @Override
        public void refuse(Duration wait) {
            refused = wait;
            over.countDown();
        }

        Search submit() {
            pool.submit(this);
            return this;
        }

        void runs() throws InterruptedException {
            assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
        }

        void end() throws InterruptedException {
            mayEnd.countDown();
            assertThat(over.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    @AfterEach
    void close() {
        pool.close();
    }

    @Test
    void aSearchThatWouldWaitTooLongIsRefusedAtOnce() throws InterruptedException {
        // It takes 16 s, so that the mean becomes 2 s.
        Search expensive = new Search(Duration.ofSeconds(16)).submit();
        expensive.runs();
        expensive.end();
        awaitIdle();
        Search running = new Search(Duration.ZERO).submit();
        running.runs();

        Search refused = new Search(Duration.ZERO).submit();

        assertThat(refused.refused).isEqualTo(Duration.ofSeconds(2));
        assertThat(meters.get("puri.search.shed").counter().count()).isEqualTo(1);
        running.end();
    }

    @Test
    void aCheapSearchDoesNotWaitBehindAnExpensiveOne() throws InterruptedException {
        Search expensive = new Search(Duration.ofSeconds(15)).submit();
        expensive.runs();
        Search cheap = new Search(Duration.ZERO).submit();
        pool.shedOverdue();
        assertThat(cheap.refused).isNull();

        nanos.addAndGet(MAX_WAIT.toNanos() + 1);
        pool.shedOverdue();

        assertThat(cheap.over.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(cheap.refused).isGreaterThan(MAX_WAIT);
        expensive.end();
        assertThat(cheap.begun.getCount()).isEqualTo(1);
    }

    @Test
    void searchesThatWaitTooLongAreRefusedAfterOneCouldNotBe() throws InterruptedException {
        Search expensive = new Search(Duration.ofSeconds(15)).submit();
        expensive.runs();
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

        // By the pool's own thread.
        assertThat(cheap.over.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(cheap.refused).isGreaterThan(MAX_WAIT);
        expensive.end();
    }

    @Test
    void aSearchThatWaitedTooLongIsNotDoneInItsTurn() throws InterruptedException {
        Search expensive = new Search(Duration.ofSeconds(15)).submit();
        expensive.runs();
        Search cheap = new Search(Duration.ZERO).submit();

        expensive.end();

        assertThat(cheap.over.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(cheap.refused).isNotNull();
    }

    @Test
    void whileAThreadIsIdleNothingIsRefused() throws InterruptedException {
        for (int i = 0; i < 5; i++) {
            Search expensive = new Search(Duration.ofSeconds(100)).submit();
            expensive.runs();
            expensive.end();
            awaitIdle();
        }
        assertThat(meters.get("puri.search.shed").counter().count()).isZero();
    }

    @Test
    void cheapSearchesQueue() throws InterruptedException {
        Search first = new Search(Duration.ofMillis(80)).submit();
        first.runs();
        first.end();
        awaitIdle();
        Search running = new Search(Duration.ofMillis(10)).submit();
        running.runs();
        Search waiting = new Search(Duration.ofMillis(10)).submit();
        running.end();

        waiting.runs();
        waiting.end();
        assertThat(waiting.refused).isNull();
    }

    /** Until the thread has counted the search before as done, which it does after its end. */
    private void awaitIdle() {
        while (!pool.isIdle()) {
            Thread.onSpinWait();
        }
    }
}

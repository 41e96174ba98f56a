package dev.puri.projection.wait;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class WaitersTest {
    private static final Puri A = Puri.parse("a:b:1");
    private static final Puri B = Puri.parse("a:b:2");
    private static final Object CALLER = "a connection";
    private static final Duration LONG = Duration.ofSeconds(30);

    private final Waiters waiters = Waiters.forOneCaller(100_001);

    @AfterEach
    void close() {
        waiters.close();
    }

    @Test
    void completesOnlyOnChangesOfItsName() throws Exception {
        AtomicInteger seen = new AtomicInteger();
        CompletableFuture<@Nullable String> answer =
                waiters.await(CALLER, A, null, LONG, () -> seen.get() == 0 ? null : "it");

        seen.set(1);
        waiters.wake(B);
        assertThat(answer).isNotDone();

        waiters.wake(A);
        assertThat(answer).isCompletedWithValue("it");
        assertThat(waiters.hasWaiters()).isFalse();
    }

    @Test
    void completesWithoutANameOnAnyChange() throws Exception {
        AtomicInteger seen = new AtomicInteger();
        CompletableFuture<@Nullable String> answer =
                waiters.await(CALLER, null, null, LONG, () -> seen.get() == 0 ? null : "it");
        seen.set(1);

        waiters.wakeWaitersForAnyName();

        assertThat(answer).isCompletedWithValue("it");
    }

    @Test
    void clampsWaitsOfAnyLength() throws Exception {
        CompletableFuture<@Nullable String> longest =
                waiters.await(CALLER, A, null, Duration.ofSeconds(Long.MAX_VALUE), () -> null);
        CompletableFuture<@Nullable String> centuries =
                waiters.await(CALLER, A, null, Duration.ofDays(365 * 300), () -> null);
        assertThat(waiters.await(CALLER, A, null, Duration.ofSeconds(Long.MIN_VALUE), () -> null)
                        .get(20, TimeUnit.SECONDS))
                .isNull();

        assertThat(longest).isNotDone();
        assertThat(centuries).isNotDone();
        longest.cancel(false);
        centuries.cancel(false);
        await().untilAsserted(() -> assertThat(waiters.count()).isZero());
    }

    @Test
    void endsWithoutAResultAfterTheWait() throws Exception {
        assertThat(waiters.await(CALLER, A, null, Duration.ofMillis(20), () -> null)
                        .get(20, TimeUnit.SECONDS))
                .isNull();
        // The future completes a moment before the waiter is removed.
        await().untilAsserted(() -> assertThat(waiters.count()).isZero());
    }

    @Test
    void anErrorInACheckEndsOnlyItsWait() throws Exception {
        AtomicInteger looks = new AtomicInteger();
        CompletableFuture<@Nullable String> failing = waiters.await(CALLER, A, null, Duration.ofMillis(50), () -> {
            if (looks.getAndIncrement() > 0) {
                throw new StackOverflowError("a test's");
            }
            return null;
        });
        CompletableFuture<@Nullable String> other = waiters.await(CALLER, A, null, Duration.ofMillis(100), () -> null);

        assertThatThrownBy(() -> failing.get(20, TimeUnit.SECONDS)).hasCauseInstanceOf(StackOverflowError.class);
        assertThat(other.get(20, TimeUnit.SECONDS)).isNull();
        await().untilAsserted(() -> assertThat(waiters.count()).isZero());
    }

    @Test
    void removesACancelledWaiter() throws Exception {
        CompletableFuture<@Nullable String> answer = waiters.await(CALLER, A, null, LONG, () -> null);

        answer.cancel(false);

        assertThat(waiters.count()).isZero();
    }

    @Test
    void refusesWaitersBeyondTheLimitUntilOneLeaves() throws Exception {
        try (Waiters two = Waiters.forOneCaller(2)) {
            two.await(CALLER, A, null, LONG, () -> null);
            CompletableFuture<@Nullable String> second = two.await(CALLER, A, null, LONG, () -> null);
            assertThatThrownBy(() -> two.await(CALLER, B, null, LONG, () -> null))
                    .isInstanceOf(Waiters.TooManyException.class);

            second.cancel(false);

            two.await(CALLER, B, null, LONG, () -> null);
        }
    }

    @Test
    void oneCallerDoesNotPreventOthersFromWaiting() throws Exception {
        try (Waiters twenty = new Waiters(20)) {
            CompletableFuture<@Nullable String> first = twenty.await("greedy", A, null, LONG, () -> null);
            twenty.await("greedy", B, null, LONG, () -> null);
            assertThatThrownBy(() -> twenty.await("greedy", A, null, LONG, () -> null))
                    .isInstanceOf(Waiters.TooManyException.class)
                    .hasMessage("2 requests of this connection are already waiting");
            assertThat(twenty.count()).isEqualTo(2);

            for (int i = 0; i < 18; i++) {
                twenty.await("caller " + i / 2, A, null, LONG, () -> null);
            }
            assertThatThrownBy(() -> twenty.await("one more", A, null, LONG, () -> null))
                    .hasMessage("20 requests are already waiting");

            first.cancel(false);
            twenty.await("greedy", A, null, LONG, () -> null);
        }
    }

    @Test
    void oneCallerMayWaitForAWholeBatch() throws Exception {
        try (Waiters twenty = Waiters.forBatches(20, 5)) {
            for (int i = 0; i < 5; i++) {
                twenty.await(CALLER, A, null, LONG, () -> null);
            }
            assertThatThrownBy(() -> twenty.await(CALLER, A, null, LONG, () -> null))
                    .hasMessage("5 requests of this connection are already waiting");
        }
        try (Waiters hundred = Waiters.forBatches(100, 5)) {
            for (int i = 0; i < 10; i++) {
                hundred.await(CALLER, A, null, LONG, () -> null);
            }
            assertThatThrownBy(() -> hundred.await(CALLER, A, null, LONG, () -> null))
                    .hasMessage("10 requests of this connection are already waiting");
        }
    }

    @Test
    void completesOnTheOutcomeOfItsToken() throws Exception {
        Position token = Position.parse("3-7");
        AtomicInteger seen = new AtomicInteger();
        CompletableFuture<@Nullable String> answer =
                waiters.await(CALLER, A, token, LONG, () -> seen.get() == 0 ? null : "it");
        seen.set(1);
        waiters.wake(Position.parse("3-8"));
        assertThat(answer).isNotDone();

        waiters.wake(token);

        assertThat(answer).isCompletedWithValue("it");
        assertThat(waiters.count()).isZero();
    }

    @Test
    void closeEndsAllWaits() throws Exception {
        CompletableFuture<@Nullable String> answer = waiters.await(CALLER, A, null, LONG, () -> null);

        waiters.close();

        assertThat(answer).isCompletedWithValue(null);
    }

    @Test
    void checksOnceAfterTheClose() throws Exception {
        waiters.close();

        assertThat(waiters.await(CALLER, A, null, LONG, () -> "it")).isCompletedWithValue("it");
        assertThat(waiters.await(CALLER, A, null, LONG, () -> null)).isCompletedWithValue(null);
        assertThat(waiters.count()).isZero();
    }

    @Test
    void aHundredThousandWaitersUseNoThread() throws Exception {
        int threads = Thread.activeCount();
        List<CompletableFuture<@Nullable String>> answers = new ArrayList<>();
        AtomicInteger seen = new AtomicInteger();
        for (int i = 0; i < 100_000; i++) {
            answers.add(waiters.await(
                    CALLER, Puri.parse("a:b:" + i % 50_000), null, LONG, () -> seen.get() == 0 ? null : "it"));
        }
        assertThat(Thread.activeCount()).isLessThan(threads + 5);

        seen.set(1);
        waiters.wakeAll();

        assertThat(answers).allSatisfy(answer -> assertThat(answer).isCompletedWithValue("it"));
        assertThat(waiters.count()).isZero();
    }

    @Test
    void losesNoChangeBetweenCheckAndRegistration() throws Exception {
        int names = 50;
        AtomicLongArray versions = new AtomicLongArray(names);
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        int rounds = 20_000;
        Thread writer = Thread.ofPlatform().start(() -> {
            for (int i = 0; i < rounds * 10 && !Thread.interrupted(); i++) {
                int name = i % names;
                versions.incrementAndGet(name);
                if (waiters.hasWaiters()) {
                    waiters.wake(Puri.parse("a:b:" + name));
                }
            }
        });
        List<CompletableFuture<@Nullable Long>> answers = new ArrayList<>();
        for (int i = 0; i < rounds; i++) {
            int name = random.nextInt(names);
            long next = versions.get(name) + 1;
            answers.add(waiters.await(CALLER, Puri.parse("a:b:" + name), null, LONG, () -> {
                long now = versions.get(name);
                return now >= next ? now : null;
            }));
        }
        writer.join();
        // The remaining waiters wait for a version that was never written.
        for (CompletableFuture<@Nullable Long> answer : answers) {
            if (!answer.isDone()) {
                continue;
            }
            assertThat(answer.get()).as("seed %d", seed).isNotNull();
        }
        int before = waiters.count();
        waiters.wakeAll();
        assertThat(waiters.count()).as("seed %d: no waiter was missed", seed).isEqualTo(before);
    }
}

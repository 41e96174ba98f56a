package dev.puri.cli.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class RateLimiterTest {
    /** The clock, which only sleeping and {@link #pass} set forward. Its origin is arbitrary, as that of the JVM is. */
    private long nanos = Long.MAX_VALUE - 50;

    private long slept;
    private final List<Long> counts = new ArrayList<>();

    @Test
    void operationsAreSpreadOverTheTime() {
        RateLimiter limiter = limiter(100);
        for (int i = 0; i < 6; i++) {
            limiter.await(10);
        }
        assertThat(slept).as("the first 10 begin at once").isEqualTo(millis(500));
    }

    @Test
    void timeThatOperationsTakeIsNotWaitedForAgain() {
        RateLimiter limiter = limiter(100);
        limiter.await(10);
        pass(millis(70));
        limiter.await(10);
        assertThat(slept).isEqualTo(millis(30));
    }

    @Test
    void onlyATenthOfASecondOfAPauseIsMadeUpFor() {
        RateLimiter limiter = limiter(100);
        limiter.await(10);
        pass(millis(60_000));
        limiter.await(10);
        limiter.await(10);
        assertThat(slept).isZero();
        limiter.await(10);
        assertThat(slept).isEqualTo(millis(100));
    }

    @Test
    void operationsThatAreNoneNeedNoTime() {
        RateLimiter limiter = limiter(1);
        for (int i = 0; i < 100; i++) {
            limiter.await(0);
        }
        assertThat(slept).isZero();
    }

    @Test
    void withoutALimitNothingWaits() {
        RateLimiter limiter = limiter(null);
        limiter.await(1_000_000);
        limiter.await(1_000_000);
        assertThat(slept).isZero();
        assertThat(limiter.batchSize(500)).isEqualTo(500);
    }

    @Test
    void aBatchIsATenthOfASecond() {
        assertThat(limiter(1_000).batchSize(500)).isEqualTo(100);
        assertThat(limiter(1_000_000).batchSize(500)).isEqualTo(500);
        assertThat(limiter(3).batchSize(500)).isOne();
    }

    @Test
    void operationsAreCountedWithAndWithoutALimit() {
        for (RateLimiter limiter : List.of(limiter(1_000), limiter(null))) {
            counts.clear();
            limiter.await(500);
            limiter.count(1);
            limiter.await(500);
            assertThat(counts).containsExactly(500L, 501L, 1_001L);
        }
    }

    private RateLimiter limiter(@Nullable Integer maxPerSecond) {
        return new RateLimiter(maxPerSecond, counts::add, () -> nanos, wait -> {
            if (wait > 0) {
                slept += wait;
                pass(wait);
            }
        });
    }

    private void pass(long wait) {
        nanos += wait;
    }

    private static long millis(long millis) {
        return Duration.ofMillis(millis).toNanos();
    }
}

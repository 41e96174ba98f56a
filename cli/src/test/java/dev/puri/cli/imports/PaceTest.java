package dev.puri.cli.imports;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class PaceTest {
    /** The clock, which only sleeping and {@link #pass} set forward. Its origin is arbitrary, as that of the JVM is. */
    private long nanos = Long.MAX_VALUE - 50;

    private long slept;

    @Test
    void operationsAreSpreadOverTheTime() throws Exception {
        Pace pace = pace(100);
        for (int i = 0; i < 6; i++) {
            pace.await(10);
        }
        assertThat(slept).as("the first 10 begin at once").isEqualTo(millis(500));
    }

    @Test
    void timeThatOperationsTakeIsNotWaitedForAgain() throws Exception {
        Pace pace = pace(100);
        pace.await(10);
        pass(millis(70));
        pace.await(10);
        assertThat(slept).isEqualTo(millis(30));
    }

    @Test
    void onlyATenthOfASecondOfAPauseIsMadeUpFor() throws Exception {
        Pace pace = pace(100);
        pace.await(10);
        pass(millis(60_000));
        pace.await(10);
        pace.await(10);
        assertThat(slept).isZero();
        pace.await(10);
        assertThat(slept).isEqualTo(millis(100));
    }

    @Test
    void operationsThatAreNoneNeedNoTime() throws Exception {
        Pace pace = pace(1);
        for (int i = 0; i < 100; i++) {
            pace.await(0);
        }
        assertThat(slept).isZero();
    }

    @Test
    void withoutALimitNothingWaits() throws Exception {
        Pace pace = pace(null);
        pace.await(1_000_000);
        pace.await(1_000_000);
        assertThat(slept).isZero();
        assertThat(pace.batchSize(500)).isEqualTo(500);
    }

    @Test
    void aBatchIsATenthOfASecond() {
        assertThat(pace(1_000).batchSize(500)).isEqualTo(100);
        assertThat(pace(1_000_000).batchSize(500)).isEqualTo(500);
        assertThat(pace(3).batchSize(500)).isOne();
    }

    private Pace pace(@Nullable Integer maxPerSecond) {
        return new Pace(maxPerSecond, () -> nanos, wait -> {
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

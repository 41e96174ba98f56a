package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The upper bound for the time of a record, by which the indexer decides whether it knows the record's declaration. */
final class ChangeDecoderTest {
    private static final long POLLED_AT_MILLIS = 1_790_000_000_000L;
    private static final long POLLED_AT_NANOS = 77_000_000_000L;

    private static long bound(Duration ageAtPoll, Duration sincePoll) {
        return ChangeDecoder.publishedBeforeNanos(
                        POLLED_AT_MILLIS - ageAtPoll.toMillis(),
                        POLLED_AT_NANOS,
                        POLLED_AT_MILLIS + sincePoll.toMillis(),
                        POLLED_AT_NANOS + sincePoll.toNanos())
                - POLLED_AT_NANOS;
    }

    @Test
    void aNewRecordIsBoundedByThePoll() {
        assertThat(bound(Duration.ZERO, Duration.ZERO)).isZero();
        assertThat(bound(Duration.ofSeconds(59), Duration.ZERO)).isZero();
    }

    @Test
    void anOldRecordIsBoundedByItsTimestampPlusClockSkew() {
        assertThat(bound(Duration.ofMinutes(5), Duration.ZERO))
                .isEqualTo(Duration.ofMinutes(-4).toNanos());
    }

    @Test
    void retriesDoNotMoveTheBoundBack() {
        for (int minutes = 0; minutes < 120; minutes++) {
            assertThat(bound(Duration.ZERO, Duration.ofMinutes(minutes))).isGreaterThanOrEqualTo(0);
            assertThat(bound(Duration.ofMinutes(5), Duration.ofMinutes(minutes)))
                    .isGreaterThanOrEqualTo(Duration.ofMinutes(-4).toNanos());
        }
    }

    @Test
    void recordsOlderThanAnHourCountAsOneHourOld() {
        assertThat(bound(Duration.ofDays(30), Duration.ZERO))
                .isEqualTo(Duration.ofHours(-1).toNanos());
    }
}

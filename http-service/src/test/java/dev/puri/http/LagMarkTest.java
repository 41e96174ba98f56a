package dev.puri.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

final class LagMarkTest {
    @Test
    void onlyWhatIsNoticeableIsTold() {
        assertThat(LagMark.text(Duration.ofMillis(42_999))).isEqualTo("42");
        assertThat(LagMark.text(Duration.ofMillis(4_999))).isNull();
        assertThat(LagMark.text(null)).isNull();
    }

    @Test
    void theAgeCountsOnWhileItCannotBeRead() {
        AtomicLong nanos = new AtomicLong();
        AtomicReference<Supplier<Duration>> age = new AtomicReference<>(() -> Duration.ofSeconds(2));
        try (LagMark lag = new LagMark("Puri-Table-Lag", () -> age.get().get(), nanos::get)) {
            lag.look();
            assertThat(lag.mark().value().get()).isNull();

            age.set(() -> {
                throw new IllegalStateException("not known");
            });
            nanos.addAndGet(Duration.ofSeconds(40).toNanos());
            lag.look();

            assertThat(lag.mark().value().get()).isEqualTo("42");
        }
    }

    /** A process that was frozen may answer before the clock's thread looks again. */
    @Test
    void theAgeCountsOnWhileNothingReadsIt() {
        AtomicLong nanos = new AtomicLong();
        try (LagMark lag = new LagMark("Puri-Table-Lag", () -> Duration.ofSeconds(2), nanos::get)) {
            lag.look();
            nanos.addAndGet(Duration.ofSeconds(40).toNanos());
            assertThat(lag.mark().value().get()).isEqualTo("42");

            lag.look();
            assertThat(lag.mark().value().get()).isNull();
            nanos.addAndGet(Duration.ofSeconds(1).toNanos());
            assertThat(lag.mark().value().get()).isNull();
        }
    }

    @Test
    void goesOnAfterAnError() throws InterruptedException {
        AtomicInteger looks = new AtomicInteger();
        CountDownLatch lookedAgain = new CountDownLatch(3);
        try (LagMark lag = LagMark.start("Puri-Table-Lag", () -> {
            lookedAgain.countDown();
            if (looks.getAndIncrement() == 0) {
                throw new StackOverflowError();
            }
            return Duration.ofSeconds(42);
        })) {
            assertThat(lookedAgain.await(30, TimeUnit.SECONDS)).isTrue();
            // More if this thread has been held up since the last look.
            assertThat(Long.parseLong(lag.mark().value().get())).isGreaterThanOrEqualTo(42);
        }
    }
}

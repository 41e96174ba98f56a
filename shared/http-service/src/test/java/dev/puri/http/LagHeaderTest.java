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

final class LagHeaderTest {
    @Test
    void omitsSmallStaleness() {
        assertThat(LagHeader.text(Duration.ofMillis(42_999))).isEqualTo("42");
        assertThat(LagHeader.text(Duration.ofMillis(4_999))).isNull();
        assertThat(LagHeader.text(null)).isNull();
    }

    @Test
    void theAgeIncreasesWhileItCannotBeRead() {
        AtomicLong nanos = new AtomicLong();
        AtomicReference<Supplier<Duration>> age = new AtomicReference<>(() -> Duration.ofSeconds(2));
        try (LagHeader lag = new LagHeader("Puri-Table-Lag", () -> age.get().get(), nanos::get)) {
            lag.sample();
            assertThat(lag.header().value().get()).isNull();

            age.set(() -> {
                throw new IllegalStateException("not known");
            });
            nanos.addAndGet(Duration.ofSeconds(40).toNanos());
            lag.sample();

            assertThat(lag.header().value().get()).isEqualTo("42");
        }
    }

    /** A process that was suspended may respond before the next sample. */
    @Test
    void theAgeIncreasesWhileNothingReadsIt() {
        AtomicLong nanos = new AtomicLong();
        try (LagHeader lag = new LagHeader("Puri-Table-Lag", () -> Duration.ofSeconds(2), nanos::get)) {
            lag.sample();
            nanos.addAndGet(Duration.ofSeconds(40).toNanos());
            assertThat(lag.header().value().get()).isEqualTo("42");

            lag.sample();
            assertThat(lag.header().value().get()).isNull();
            nanos.addAndGet(Duration.ofSeconds(1).toNanos());
            assertThat(lag.header().value().get()).isNull();
        }
    }

    @Test
    void continuesAfterAnError() throws InterruptedException {
        AtomicInteger looks = new AtomicInteger();
        CountDownLatch lookedAgain = new CountDownLatch(3);
        try (LagHeader lag = LagHeader.start("Puri-Table-Lag", () -> {
            lookedAgain.countDown();
            if (looks.getAndIncrement() == 0) {
                throw new StackOverflowError();
            }
            return Duration.ofSeconds(42);
        })) {
            assertThat(lookedAgain.await(30, TimeUnit.SECONDS)).isTrue();
            // More if this thread was delayed since the last sample.
            assertThat(Long.parseLong(lag.header().value().get())).isGreaterThanOrEqualTo(42);
        }
    }
}

package dev.puri.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class LagMarkTest {
    @Test
    void onlyWhatIsNoticeableIsTold() {
        assertThat(LagMark.text(Duration.ofMillis(42_999))).isEqualTo("42");
        assertThat(LagMark.text(Duration.ofMillis(4_999))).isNull();
        assertThat(LagMark.text(null)).isNull();
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
            assertThat(lag.mark().value().get()).isEqualTo("42");
        }
    }
}

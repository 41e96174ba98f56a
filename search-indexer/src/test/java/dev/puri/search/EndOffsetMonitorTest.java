package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class EndOffsetMonitorTest {
    @Test
    void keepsAskingAfterAnyThrowableAndReportsIt() {
        List<Throwable> thrown = List.of(
                new OutOfMemoryError("simulated"), new IllegalStateException("a bug"), new StackOverflowError());
        AtomicInteger asked = new AtomicInteger();
        try (EndOffsetMonitor endOffsets = new EndOffsetMonitor(
                topic -> {
                    throw unchecked(thrown.get(asked.getAndIncrement() % thrown.size()));
                },
                InstantSource.system())) {
            endOffsets.start();

            await().atMost(Duration.ofSeconds(30)).until(() -> asked.get() > thrown.size());
            await().atMost(Duration.ofSeconds(30))
                    .untilAsserted(
                            () -> assertThat(endOffsets.failureReason()).contains("OutOfMemoryError: simulated"));
        }
    }

    private static RuntimeException unchecked(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        return (RuntimeException) thrown;
    }
}

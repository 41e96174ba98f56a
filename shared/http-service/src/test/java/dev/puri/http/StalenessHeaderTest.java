package dev.puri.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

final class StalenessHeaderTest {
    @Test
    void omitsSmallStaleness() {
        AtomicReference<Duration> staleness = new AtomicReference<>();
        Route.DynamicHeader header = StalenessHeader.of("Puri-Table-Lag", staleness::get);
        assertThat(header.value().get()).isNull();
        staleness.set(Duration.ofMillis(4_999));
        assertThat(header.value().get()).isNull();
        staleness.set(Duration.ofMillis(42_999));
        assertThat(header.value().get()).isEqualTo("42");
    }
}

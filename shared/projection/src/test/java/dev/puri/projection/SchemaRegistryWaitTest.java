package dev.puri.projection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.serde.SchemaRegistryUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class SchemaRegistryWaitTest {
    private static final RetryPolicy SOON = RetryPolicy.fixed(Duration.ofMillis(1));
    private static final RetryPolicy NEVER = RetryPolicy.fixed(Duration.ofDays(1));

    private final Stop stop = new Stop();
    private final List<String> waits = new ArrayList<>();

    @Test
    void readsOnceTheRegistryAnswersAndReportsTheWaitOnce() {
        SchemaRegistryWait wait = new SchemaRegistryWait(SOON, stop);
        AtomicInteger attempts = new AtomicInteger();
        List<String> seen = new ArrayList<>();

        int read = wait.read(
                () -> {
                    seen.add(String.valueOf(wait.lastError()));
                    int attempt = attempts.incrementAndGet();
                    if (attempt < 3) {
                        throw new SchemaRegistryUnavailableException("away " + attempt, null);
                    }
                    return attempt;
                },
                e -> waits.add(String.valueOf(e.getMessage())));

        assertThat(read).isEqualTo(3);
        assertThat(waits).containsExactly("away 1");
        assertThat(seen).containsExactly("null", "away 1", "away 2");
        assertThat(wait.lastError()).isNull();
    }

    @Test
    void aStopEndsTheWait() {
        SchemaRegistryWait wait = new SchemaRegistryWait(NEVER, stop);

        assertThatThrownBy(() -> wait.read(SchemaRegistryWaitTest::away, e -> stop.request()))
                .isInstanceOf(StoppedException.class)
                .hasMessage("stopped while waiting for the schema registry");
        assertThat(wait.lastError()).isNull();
    }

    @Test
    void anInterruptEndsTheWaitAndIsPreserved() {
        SchemaRegistryWait wait = new SchemaRegistryWait(NEVER, stop);

        assertThatThrownBy(() -> wait.read(
                        SchemaRegistryWaitTest::away,
                        e -> Thread.currentThread().interrupt()))
                .isInstanceOf(StoppedException.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void throwsPermanentFailuresAtOnce() {
        SchemaRegistryWait wait = new SchemaRegistryWait(NEVER, stop);

        assertThatThrownBy(() -> wait.read(
                        () -> {
                            throw new IllegalArgumentException("no row");
                        },
                        e -> waits.add("waits")))
                .hasMessage("no row");
        assertThat(waits).isEmpty();
    }

    private static String away() {
        throw new SchemaRegistryUnavailableException("away", null);
    }
}

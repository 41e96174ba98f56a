package dev.puri.resolver.feed;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class TableRebuildTest {
    private Instant now = Instant.parse("2026-11-20T10:00:00Z");
    private final TableRebuild rebuild = new TableRebuild(() -> now);

    @Test
    void noneWasRequestedAtFirst() {
        assertThat(rebuild.isRunning()).isFalse();
        assertThat(rebuild.toJson()).isEqualTo(Map.of("state", "none"));
    }

    @Test
    void runsFromTheRequestToTheCompletion() {
        assertThat(rebuild.begin()).isTrue();
        now = now.plusMillis(1500);
        assertThat(rebuild.isRunning()).isTrue();
        assertThat(rebuild.toJson()).isEqualTo(Map.of("state", "running", "seconds", 1.5));

        rebuild.complete();
        now = now.plusSeconds(60);

        assertThat(rebuild.isRunning()).isFalse();
        assertThat(rebuild.toJson()).isEqualTo(Map.of("state", "done", "seconds", 1.5));
    }

    @Test
    void onlyOneRuns() {
        rebuild.begin();
        now = now.plusSeconds(2);

        assertThat(rebuild.begin()).isFalse();

        assertThat(rebuild.toJson()).isEqualTo(Map.of("state", "running", "seconds", 2.0));
    }

    @Test
    void anotherMayFollow() {
        rebuild.begin();
        rebuild.complete();
        now = now.plusSeconds(60);

        assertThat(rebuild.begin()).isTrue();

        assertThat(rebuild.toJson()).isEqualTo(Map.of("state", "running", "seconds", 0.0));
    }

    /** The table is also filled without a request, for example at the start. */
    @Test
    void aCompletionWithoutARequestIsIgnored() {
        rebuild.complete();

        assertThat(rebuild.toJson()).isEqualTo(Map.of("state", "none"));
    }
}

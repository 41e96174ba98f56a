package dev.puri.client.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LeaderSessionTest {
    private final List<Long> waits = new ArrayList<>();
    private final Map<OutboxRow, CompletableFuture<@Nullable Void>> wave = new LinkedHashMap<>();

    /** An answer that never comes. */
    private final class Missing extends CompletableFuture<@Nullable Void> {
        @Override
        public @Nullable Void get(long timeout, TimeUnit unit) throws TimeoutException {
            waits.add(unit.toNanos(timeout));
            throw new TimeoutException();
        }
    }

    private OutboxRow send(String puri, CompletableFuture<@Nullable Void> answer) {
        OutboxRow row = new OutboxRow(wave.size() + 1L, new UUID(0, wave.size()), puri, new byte[0], null, null);
        wave.put(row, answer);
        return row;
    }

    @Test
    void waitsOnceForAWaveThatIsNotAnswered() throws Exception {
        OutboxRow answered = send("a:b:1", CompletableFuture.completedFuture(null));
        send("a:b:2", new Missing());
        send("a:b:3", new Missing());
        LeaderSession.Answers answers = LeaderSession.answers(wave, 1_000_000);
        assertThat(answers.published()).containsExactly(answered);
        assertThat(answers.refused()).isEmpty();
        assertThat(answers.failure()).isInstanceOf(TimeoutException.class);
        assertThat(waits).singleElement().satisfies(wait -> assertThat(wait).isBetween(0L, 1_000_000L));
    }
}

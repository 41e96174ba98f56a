package dev.puri.client.resolve;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConcurrencyLimiterTest {
    private final List<String> begun = new ArrayList<>();
    private final Deque<Runnable> handedOver = new ArrayDeque<>();
    private boolean endAtOnce;
    private final ConcurrencyLimiter<String> limiter = new ConcurrencyLimiter<>(2, this::begin, handedOver::add);

    private void begin(String one) {
        begun.add(one);
        if (endAtOnce) {
            limiter.end(one);
        }
    }

    /** However fast tasks end, the thread that ends one never starts more than the limit. */
    @Test
    void aThreadStartsTasksUpToTheLimitAndHandsTheRestOver() {
        List.of("a", "b", "c", "d", "e", "f").forEach(limiter::add);
        assertThat(begun).containsExactly("a", "b");
        endAtOnce = true;
        limiter.end("a");
        assertThat(begun).containsExactly("a", "b", "c", "d");
        limiter.add("g");
        assertThat(begun).as("one thread at a time begins them").hasSize(4);
        handedOver.remove().run();
        assertThat(begun).containsExactly("a", "b", "c", "d", "e", "f");
        handedOver.remove().run();
        assertThat(begun).endsWith("g").hasSize(7);
        assertThat(handedOver).isEmpty();
    }

    @Test
    void aThreadThatTakesOverStartsNoneAfterTheEnd() {
        List.of("a", "b", "c", "d", "e").forEach(limiter::add);
        endAtOnce = true;
        limiter.end("a");
        limiter.close();
        handedOver.remove().run();
        assertThat(begun).containsExactly("a", "b", "c", "d");
    }
}

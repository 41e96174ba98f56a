package dev.puri.client.resolve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

class JoinerTest {
    private static final Duration DEADLINE = Duration.ofSeconds(5);

    private long now;
    private final List<List<Ref>> sent = new ArrayList<>();
    private final Deque<CompletableFuture<List<Verdict>>> underWay = new ArrayDeque<>();

    private Joiner joiner(int maxBatch) {
        return new Joiner(maxBatch, 1, DEADLINE, () -> now, refs -> {
            sent.add(refs);
            CompletableFuture<List<Verdict>> answer = new CompletableFuture<>();
            underWay.add(answer);
            return answer;
        });
    }

    private static Ref ref(int i) {
        return Ref.of("m:t:" + i);
    }

    private void answer() {
        List<Ref> refs = sent.get(sent.size() - 1);
        underWay.remove().complete(refs.stream().map(JoinerTest::verdict).toList());
    }

    private static Verdict verdict(Ref ref) {
        return new Verdict.Deleted(Objects.requireNonNull(ref.puri()), null, null, 1, Instant.EPOCH, Instant.EPOCH);
    }

    @Test
    void anAbandonedReferenceIsNotSent() {
        Joiner joiner = joiner(10);
        joiner.add(ref(0));
        CompletableFuture<Verdict> abandoned = joiner.add(ref(1));
        CompletableFuture<Verdict> askedAgain = joiner.add(ref(2));
        now = DEADLINE.toNanos() - 1;
        joiner.add(ref(2));
        CompletableFuture<Verdict> later = joiner.add(ref(3));
        now++;

        answer();

        assertThat(sent).containsExactly(List.of(ref(0)), List.of(ref(2), ref(3)));
        assertThatThrownBy(abandoned::join)
                .isInstanceOf(CompletionException.class)
                .cause()
                .isInstanceOfSatisfying(
                        ResolverException.class, e -> assertThat(e.kind()).isEqualTo(ResolverException.Kind.DEADLINE));
        answer();
        assertThat(askedAgain.join()).isEqualTo(verdict(ref(2)));
        assertThat(later.join()).isEqualTo(verdict(ref(3)));
    }

    @Test
    void abandonedLookUpsAreRemovedAndTheNextIsSentAtOnce() {
        Joiner joiner = joiner(1);
        joiner.add(ref(0));
        List<CompletableFuture<Verdict>> abandoned = new ArrayList<>();
        for (int i = 1; i < 100; i++) {
            abandoned.add(joiner.add(ref(i)));
        }
        now = DEADLINE.toNanos();
        answer();
        assertThat(abandoned).allMatch(CompletableFuture::isCompletedExceptionally);
        assertThat(sent).hasSize(1);
        joiner.add(ref(1));
        assertThat(sent).hasSize(2);
    }

    @Test
    void manyBatchesThatFailAtOnceDoNotOverflowTheStack() {
        boolean[] isClosed = {false};
        Joiner joiner = new Joiner(1, 1, DEADLINE, () -> now, refs -> {
            CompletableFuture<List<Verdict>> answer = new CompletableFuture<>();
            if (isClosed[0]) {
                answer.completeExceptionally(Requests.closedException());
            } else {
                underWay.add(answer);
            }
            return answer;
        });
        List<CompletableFuture<Verdict>> answers = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            answers.add(joiner.add(ref(i)));
        }
        isClosed[0] = true;
        underWay.remove().completeExceptionally(Requests.closedException());
        assertThat(answers).allMatch(CompletableFuture::isCompletedExceptionally);
    }
}

package dev.puri.client.testing;

import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.ResolverException;
import dev.puri.client.resolve.ResolverException.Kind;
import dev.puri.client.resolve.Verdict;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Resolves the identities of the fake. The registry's lock guards the list of pending questions. */
final class InMemoryResolver implements IdentityResolver {
    /** The limit of a {@code ResolverClient} too. */
    private static final Duration MAX_WAIT = Duration.ofDays(1);

    private final InMemoryRegistry registry;
    private final int maxPending;
    private final List<Pending> pending = new ArrayList<>();
    private boolean isClosed;

    InMemoryResolver(InMemoryRegistry registry, int maxPending) {
        this.registry = registry;
        this.maxPending = maxPending;
    }

    /** A question of which {@code waiting} references wait for events. */
    private record Pending(List<Ref> refs, int waiting, CompletableFuture<List<Verdict>> answer) {}

    @Override
    public CompletionStage<Verdict> resolveAsync(Ref ref, Duration wait) {
        return ask(List.of(Ref.requireRef(ref)), wait, verdicts -> verdicts.get(0));
    }

    @Override
    public CompletionStage<List<Verdict>> resolveAllAsync(List<Ref> refs, Duration wait) {
        return ask(List.copyOf(Ref.requireRefs(refs)), wait, verdicts -> verdicts);
    }

    private <T> CompletionStage<T> ask(List<Ref> refs, Duration wait, Function<List<Verdict>, T> shape) {
        CompletableFuture<List<Verdict>> answer = new CompletableFuture<>();
        synchronized (registry) {
            if (isClosed) {
                return CompletableFuture.failedStage(closedFailure());
            }
            List<Verdict> verdicts = verdicts(refs);
            int waiting = waiting(verdicts);
            if (waiting == 0 || wait.isZero() || wait.isNegative()) {
                return CompletableFuture.completedStage(shape.apply(verdicts));
            }
            if (pending.stream().mapToInt(Pending::waiting).sum() + waiting > maxPending) {
                return CompletableFuture.failedStage(new ResolverException(
                        Kind.FULL, "no more than " + maxPending + " references may wait for events (maxPending)"));
            }
            Pending question = new Pending(refs, waiting, answer);
            pending.add(question);
            // Unlike toMillis, convert clamps a wait of any length.
            long millis = Math.min(TimeUnit.MILLISECONDS.convert(wait), MAX_WAIT.toMillis());
            CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS).execute(() -> expire(question));
        }
        return answer.thenApply(shape).minimalCompletionStage();
    }

    private List<Verdict> verdicts(List<Ref> refs) {
        return refs.stream().map(registry::verdict).toList();
    }

    private static int waiting(List<Verdict> verdicts) {
        return (int)
                verdicts.stream().filter(Verdict.NotCaughtUp.class::isInstance).count();
    }

    private void expire(Pending question) {
        List<Verdict> verdicts;
        synchronized (registry) {
            if (!pending.remove(question)) {
                return;
            }
            verdicts = verdicts(question.refs());
        }
        question.answer().complete(verdicts);
    }

    /** Removes the questions that an event made answerable. The caller holds the lock, and runs the answers without it. */
    List<Runnable> answersAfterEvent() {
        List<Runnable> answers = new ArrayList<>();
        pending.removeIf(question -> {
            List<Verdict> verdicts = verdicts(question.refs());
            if (waiting(verdicts) > 0) {
                return false;
            }
            return answers.add(() -> question.answer().complete(verdicts));
        });
        return answers;
    }

    private static ResolverException closedFailure() {
        return new ResolverException(Kind.CLOSED, "the resolver is closed");
    }

    @Override
    public void close() {
        List<Pending> failed;
        synchronized (registry) {
            isClosed = true;
            failed = List.copyOf(pending);
            pending.clear();
            registry.remove(this);
        }
        failed.forEach(question -> question.answer().completeExceptionally(closedFailure()));
    }
}

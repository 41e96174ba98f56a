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
import org.jspecify.annotations.Nullable;

/**
 * A resolver of the identities in an {@link InMemoryRegistry}. The registry's lock guards the list of pending look-ups.
 */
final class InMemoryResolver implements IdentityResolver {
    /** The same limit as in {@code ResolverClient}. */
    private static final Duration MAX_WAIT = Duration.ofDays(1);

    private final InMemoryRegistry registry;
    private final int maxPending;
    private final List<PendingLookUp> pending = new ArrayList<>();
    private boolean isClosed;

    InMemoryResolver(InMemoryRegistry registry, int maxPending) {
        this.registry = registry;
        this.maxPending = maxPending;
    }

    /** A look-up in which {@code waitingRefs} references wait for events. */
    private record PendingLookUp(List<Ref> refs, int waitingRefs, CompletableFuture<List<Verdict>> answer) {}

    @Override
    public CompletionStage<Verdict> resolveAsync(Ref ref, Duration wait) {
        return lookUp(List.of(Ref.requireRef(ref)), wait, verdicts -> verdicts.get(0));
    }

    @Override
    public CompletionStage<List<Verdict>> resolveAllAsync(List<Ref> refs, Duration wait) {
        return lookUp(List.copyOf(Ref.requireRefs(refs)), wait, verdicts -> verdicts);
    }

    private <T> CompletionStage<T> lookUp(List<Ref> refs, Duration wait, Function<List<Verdict>, T> toResult) {
        CompletableFuture<List<Verdict>> answer = new CompletableFuture<>();
        synchronized (registry) {
            if (isClosed) {
                return CompletableFuture.failedStage(closedException());
            }
            List<Verdict> verdicts = verdicts(refs);
            int waitingRefs = countNotCaughtUp(verdicts);
            if (waitingRefs == 0 || wait.isZero() || wait.isNegative()) {
                return CompletableFuture.completedStage(toResult.apply(verdicts));
            }
            if (pending.stream().mapToInt(PendingLookUp::waitingRefs).sum() + waitingRefs > maxPending) {
                return CompletableFuture.failedStage(new ResolverException(
                        Kind.FULL, "at most " + maxPending + " references may wait for events (maxPending)"));
            }
            PendingLookUp lookUp = new PendingLookUp(refs, waitingRefs, answer);
            pending.add(lookUp);
            // Unlike toMillis, convert does not overflow if the wait is very long.
            long millis = Math.min(TimeUnit.MILLISECONDS.convert(wait), MAX_WAIT.toMillis());
            CompletableFuture<@Nullable Void> timer =
                    new CompletableFuture<@Nullable Void>().completeOnTimeout(null, millis, TimeUnit.MILLISECONDS);
            var unusedExpiry = timer.thenRunAsync(() -> expire(lookUp));
            // Otherwise the timer would keep the registry in memory until the end of the wait.
            var unusedCancellation = answer.whenComplete((verdict, error) -> timer.cancel(false));
        }
        return answer.thenApply(toResult).minimalCompletionStage();
    }

    private List<Verdict> verdicts(List<Ref> refs) {
        return refs.stream().map(registry::verdict).toList();
    }

    private static int countNotCaughtUp(List<Verdict> verdicts) {
        return (int)
                verdicts.stream().filter(Verdict.NotCaughtUp.class::isInstance).count();
    }

    private void expire(PendingLookUp lookUp) {
        List<Verdict> verdicts;
        synchronized (registry) {
            if (!pending.remove(lookUp)) {
                return;
            }
            verdicts = verdicts(lookUp.refs());
        }
        lookUp.answer().complete(verdicts);
    }

    /**
     * Removes the look-ups that can be answered now, and returns actions that complete them. The caller holds the lock,
     * and must run the actions without it.
     */
    List<Runnable> removeAnswerable() {
        List<Runnable> completions = new ArrayList<>();
        pending.removeIf(lookUp -> {
            List<Verdict> verdicts = verdicts(lookUp.refs());
            if (countNotCaughtUp(verdicts) > 0) {
                return false;
            }
            return completions.add(() -> lookUp.answer().complete(verdicts));
        });
        return completions;
    }

    private static ResolverException closedException() {
        return new ResolverException(Kind.CLOSED, "the resolver is closed");
    }

    @Override
    public void close() {
        List<PendingLookUp> unanswered;
        synchronized (registry) {
            isClosed = true;
            unanswered = List.copyOf(pending);
            pending.clear();
            registry.remove(this);
        }
        unanswered.forEach(lookUp -> lookUp.answer().completeExceptionally(closedException()));
    }
}

package dev.puri.client.resolve;

import dev.puri.client.resolve.ResolverException.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Combines single look-ups into batches. While fewer than {@code maxConcurrentRequests} requests are running, each
 * look-up is sent at once. Further look-ups are collected, and sent in one request when a running request ends. So no
 * timer is needed, a service with little load sees no delay, and batches grow with the load. Look-ups of a reference
 * that is already collected share one answer. A reference is not sent if the deadlines of all its callers are over.
 */
final class Joiner {
    private final int maxBatch;
    private final int maxConcurrentRequests;
    private final Duration deadline;
    private final LongSupplier nanoClock;
    private final Function<List<Ref>, CompletableFuture<List<Verdict>>> send;

    // Guarded by this.
    private final Map<Ref, CollectedLookUp> collected = new LinkedHashMap<>();
    private int runningRequestCount;

    /** The look-ups of one reference that is not sent yet. */
    private static final class CollectedLookUp {
        private final CompletableFuture<Verdict> answer = new CompletableFuture<>();

        /** Time of the latest look-up. */
        private long latestLookUpAt;
    }

    /**
     * @param maxBatch maximum number of references in one request
     * @param maxConcurrentRequests maximum number of requests that run concurrently
     * @param deadline time after which a caller no longer waits
     * @param send sends a batch; must not throw; returns the verdicts in the order of the references
     */
    Joiner(
            int maxBatch,
            int maxConcurrentRequests,
            Duration deadline,
            LongSupplier nanoClock,
            Function<List<Ref>, CompletableFuture<List<Verdict>>> send) {
        this.maxBatch = maxBatch;
        this.maxConcurrentRequests = maxConcurrentRequests;
        this.deadline = deadline;
        this.nanoClock = nanoClock;
        this.send = send;
    }

    /**
     * Looks up a reference. Callers of the same reference may get the same future, so a caller must copy the future
     * before completing it.
     */
    CompletableFuture<Verdict> add(Ref ref) {
        CompletableFuture<Verdict> answer;
        synchronized (this) {
            CollectedLookUp lookUp = collected.computeIfAbsent(ref, unused -> new CollectedLookUp());
            lookUp.latestLookUpAt = nanoClock.getAsLong();
            answer = lookUp.answer;
        }
        sendCollected();
        return answer;
    }

    private void sendCollected() {
        List<CompletableFuture<Verdict>> abandoned = new ArrayList<>();
        for (var batch = nextBatch(abandoned); batch != null; batch = nextBatch(abandoned)) {
            List<CompletableFuture<Verdict>> futures = new ArrayList<>(batch.values());
            CompletableFuture<List<Verdict>> answers = send.apply(List.copyOf(batch.keySet()));
            // If this batch has already failed, the loop sends the next one. A call of sendCollected from the callback
            // would nest once for each batch.
            boolean isDoneAlready = answers.isDone();
            var unused = answers.whenComplete((verdicts, error) -> {
                synchronized (this) {
                    runningRequestCount--;
                }
                if (!isDoneAlready) {
                    sendCollected();
                }
                complete(futures, verdicts, error);
            });
        }
        abandoned.forEach(answer -> answer.completeExceptionally(new ResolverException(
                Kind.DEADLINE,
                "not sent within " + deadline.toMillis() + " ms, because the maximum number of requests was running")));
    }

    /**
     * Removes and returns the next batch; null if there is none, or if as many requests are running as may run at a
     * time.
     *
     * @param abandoned receives the futures for which no caller waits any more
     */
    private synchronized @Nullable Map<Ref, CompletableFuture<Verdict>> nextBatch(
            List<CompletableFuture<Verdict>> abandoned) {
        if (runningRequestCount >= maxConcurrentRequests) {
            return null;
        }
        Map<Ref, CompletableFuture<Verdict>> batch = new LinkedHashMap<>();
        long now = nanoClock.getAsLong();
        var iterator = collected.entrySet().iterator();
        while (iterator.hasNext() && batch.size() < maxBatch) {
            var entry = iterator.next();
            iterator.remove();
            CollectedLookUp lookUp = entry.getValue();
            if (now - lookUp.latestLookUpAt < deadline.toNanos()) {
                batch.put(entry.getKey(), lookUp.answer);
            } else {
                abandoned.add(lookUp.answer);
            }
        }
        if (batch.isEmpty()) {
            return null;
        }
        runningRequestCount++;
        return batch;
    }

    private static void complete(
            List<CompletableFuture<Verdict>> futures, @Nullable List<Verdict> verdicts, @Nullable Throwable error) {
        for (int i = 0; i < futures.size(); i++) {
            if (verdicts != null) {
                futures.get(i).complete(verdicts.get(i));
            } else if (error != null) {
                futures.get(i).completeExceptionally(error);
            }
        }
    }
}

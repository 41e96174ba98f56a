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
 * Joins single look-ups into batches. While fewer than {@code maxUnderWay} requests are under way, each look-up is sent at once. Further
 * look-ups are gathered, and sent together when a request has ended. So there is no timer, nothing is delayed on a quiet
 * service, and batches grow with the load. Look-ups of a reference that is gathered already share its answer. A reference whose
 * callers have all reached their deadlines is not sent.
 */
final class Joiner {
    private final int maxBatch;
    private final int maxUnderWay;
    private final Duration deadline;
    private final LongSupplier nanoClock;
    private final Function<List<Ref>, CompletableFuture<List<Verdict>>> send;

    // Guarded by this.
    private final Map<Ref, Waiting> gathered = new LinkedHashMap<>();
    private int underWay;

    /** A reference that waits to be sent. */
    private static final class Waiting {
        private final CompletableFuture<Verdict> answer = new CompletableFuture<>();

        /** When it was last asked for. */
        private long askedAt;
    }

    /**
     * @param maxBatch most references of one request
     * @param maxUnderWay most requests at a time
     * @param deadline how long a caller waits
     * @param send sends a batch; must not throw, and answers in the order asked
     */
    Joiner(
            int maxBatch,
            int maxUnderWay,
            Duration deadline,
            LongSupplier nanoClock,
            Function<List<Ref>, CompletableFuture<List<Verdict>>> send) {
        this.maxBatch = maxBatch;
        this.maxUnderWay = maxUnderWay;
        this.deadline = deadline;
        this.nanoClock = nanoClock;
        this.send = send;
    }

    /** Returns the answer. All who ask the same meanwhile share it, so a caller must copy it before completing it. */
    CompletableFuture<Verdict> add(Ref ref) {
        CompletableFuture<Verdict> answer;
        synchronized (this) {
            Waiting asked = gathered.computeIfAbsent(ref, unused -> new Waiting());
            asked.askedAt = nanoClock.getAsLong();
            answer = asked.answer;
        }
        sendGathered();
        return answer;
    }

    private void sendGathered() {
        List<CompletableFuture<Verdict>> abandoned = new ArrayList<>();
        for (var batch = take(abandoned); batch != null; batch = take(abandoned)) {
            List<CompletableFuture<Verdict>> asked = new ArrayList<>(batch.values());
            CompletableFuture<List<Verdict>> answers = send.apply(List.copyOf(batch.keySet()));
            // If this batch has failed at once, the loop goes on; a call from here would go one deeper for each batch.
            boolean isOver = answers.isDone();
            var unused = answers.whenComplete((verdicts, error) -> {
                synchronized (this) {
                    underWay--;
                }
                if (!isOver) {
                    sendGathered();
                }
                complete(asked, verdicts, error);
            });
        }
        abandoned.forEach(each -> each.completeExceptionally(new ResolverException(
                Kind.DEADLINE, "not sent within " + deadline.toMillis() + " ms, because all requests were under way")));
    }

    /**
     * Takes the next batch; null if there is none, or none may be sent now.
     *
     * @param abandoned receives the answers for which no caller waits any more
     */
    private synchronized @Nullable Map<Ref, CompletableFuture<Verdict>> take(
            List<CompletableFuture<Verdict>> abandoned) {
        if (underWay >= maxUnderWay) {
            return null;
        }
        Map<Ref, CompletableFuture<Verdict>> batch = new LinkedHashMap<>();
        long now = nanoClock.getAsLong();
        var each = gathered.entrySet().iterator();
        while (each.hasNext() && batch.size() < maxBatch) {
            var entry = each.next();
            each.remove();
            Waiting asked = entry.getValue();
            if (now - asked.askedAt < deadline.toNanos()) {
                batch.put(entry.getKey(), asked.answer);
            } else {
                abandoned.add(asked.answer);
            }
        }
        if (batch.isEmpty()) {
            return null;
        }
        underWay++;
        return batch;
    }

    private static void complete(
            List<CompletableFuture<Verdict>> asked, @Nullable List<Verdict> verdicts, @Nullable Throwable error) {
        for (int i = 0; i < asked.size(); i++) {
            if (verdicts != null) {
                asked.get(i).complete(verdicts.get(i));
            } else if (error != null) {
                asked.get(i).completeExceptionally(error);
            }
        }
    }
}

package dev.puri.client.resolve;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Joins single look-ups into batches. While fewer requests are under way than may be, each look-up is sent at once; beyond
 * that look-ups are gathered, and sent together when a request has ended. So there is no timer, nothing is delayed on a
 * quiet service, and batches grow with the load. Whoever asks for a reference that is gathered already shares its answer.
 */
final class Joiner {
    private final int maxBatch;
    private final int maxUnderWay;
    private final Function<List<Ref>, CompletableFuture<List<Verdict>>> send;

    // Guarded by this.
    private final Map<Ref, CompletableFuture<Verdict>> gathered = new LinkedHashMap<>();
    private int underWay;

    /**
     * @param maxBatch most references of one request
     * @param maxUnderWay most requests at a time
     * @param send sends a batch; its answers are in the order asked
     */
    Joiner(int maxBatch, int maxUnderWay, Function<List<Ref>, CompletableFuture<List<Verdict>>> send) {
        this.maxBatch = maxBatch;
        this.maxUnderWay = maxUnderWay;
        this.send = send;
    }

    CompletableFuture<Verdict> add(Ref ref) {
        CompletableFuture<Verdict> answer;
        synchronized (this) {
            answer = gathered.computeIfAbsent(ref, unused -> new CompletableFuture<>());
        }
        sendGathered();
        return answer;
    }

    private void sendGathered() {
        for (Map<Ref, CompletableFuture<Verdict>> batch = take(); batch != null; batch = take()) {
            Map<Ref, CompletableFuture<Verdict>> asked = batch;
            var unused = send.apply(List.copyOf(asked.keySet())).whenComplete((verdicts, error) -> {
                synchronized (this) {
                    underWay--;
                }
                sendGathered();
                settle(new ArrayList<>(asked.values()), verdicts, error);
            });
        }
    }

    private synchronized @Nullable Map<Ref, CompletableFuture<Verdict>> take() {
        if (gathered.isEmpty() || underWay >= maxUnderWay) {
            return null;
        }
        underWay++;
        Map<Ref, CompletableFuture<Verdict>> batch = new LinkedHashMap<>();
        var each = gathered.entrySet().iterator();
        while (each.hasNext() && batch.size() < maxBatch) {
            var entry = each.next();
            batch.put(entry.getKey(), entry.getValue());
            each.remove();
        }
        return batch;
    }

    private static void settle(
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

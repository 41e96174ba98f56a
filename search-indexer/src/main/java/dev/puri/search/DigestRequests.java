package dev.puri.search;

import dev.puri.search.index.IndexUnavailableException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Requests for the digests of an index, from any thread. The indexer's thread answers all that are pending at once,
 * because it knows the offsets that the digests belong to.
 */
final class DigestRequests {
    /** The request that is not answered yet; null if there is none. */
    private final AtomicReference<@Nullable CompletableFuture<List<Map<String, Object>>>> pending =
            new AtomicReference<>();

    /** Returns a future of the topics of the response of {@code GET /v1/digest}. Thread-safe. */
    CompletableFuture<List<Map<String, Object>>> request() {
        CompletableFuture<List<Map<String, Object>>> request = new CompletableFuture<>();
        CompletableFuture<List<Map<String, Object>>> earlier = pending.compareAndExchange(null, request);
        return (earlier == null ? request : earlier).copy();
    }

    /** Answers the pending requests. Only for the indexer's thread. */
    void complete(IndexFeeder feeder) throws IndexUnavailableException {
        CompletableFuture<List<Map<String, Object>>> request = pending.getAndSet(null);
        if (request != null) {
            try {
                request.complete(feeder.readDigests());
            } catch (IndexUnavailableException | RuntimeException e) {
                request.completeExceptionally(e);
                throw e;
            }
        }
    }
}

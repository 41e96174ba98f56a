package dev.puri.resolver;

import dev.puri.http.Exchange;
import dev.puri.http.Problem;
import dev.puri.http.ProblemType;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.StringJoiner;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Handles {@code GET /v1/search}: forwards requests, with the user's token, to a search indexer, and forwards the
 * responses back. So the page needs only one origin.
 */
final class Search implements AutoCloseable {
    static final ProblemType NO_SEARCH = new ProblemType("no-search", "This resolver has no search", 404);
    static final ProblemType SEARCH_UNAVAILABLE =
            new ProblemType("search-unavailable", "The search indexer does not answer", 503);

    /** The forwarded parameters; the indexer checks their values. */
    static final String[] PARAMETERS = {
        "q",
        "collection",
        "namespace",
        "shard",
        "owner",
        "status",
        "order",
        "limit",
        "cursor",
        "groupBy",
        "facets",
        "highlight"
    };

    /** The forwarded response headers. */
    private static final List<String> HEADERS = List.of("Puri-Index-Lag", "Retry-After");

    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final int MAX_SEARCHES = 64;

    /** Maximum size of a response: an indexer sends at most 1 MiB of results, and facets. */
    private static final long MAX_RESPONSE_BYTES = 4 << 20;

    private final @Nullable URI indexer;
    private final Duration timeout;
    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(2))
            .build();
    private final Semaphore permits = new Semaphore(MAX_SEARCHES);

    /**
     * @param indexer the base URL; null if there is no indexer
     */
    Search(@Nullable URI indexer) {
        this(indexer, TIMEOUT);
    }

    /** Visible for tests. */
    Search(@Nullable URI indexer, Duration timeout) {
        this.indexer = indexer;
        this.timeout = timeout;
    }

    void forward(Exchange exchange) {
        if (indexer == null) {
            exchange.problem(
                    Problem.of(NO_SEARCH, "The setting PURI_SEARCH_URL of this resolver names no search indexer."));
            return;
        }
        HttpRequest request = request(exchange, indexer);
        if (!permits.tryAcquire()) {
            Problems.temporary(exchange, SEARCH_UNAVAILABLE, "The maximum number of searches run.");
            return;
        }
        CompletableFuture<HttpResponse<byte[]>> response =
                client.sendAsync(request, BodyHandlers.limiting(BodyHandlers.ofByteArray(), MAX_RESPONSE_BYTES));
        exchange.onCancel(() -> response.cancel(true));
        // The timeout of a request to HttpClient would not include the body.
        Runnable stopTimer = exchange.after(timeout, () -> response.cancel(true));
        response.whenComplete((answer, failure) -> {
            permits.release();
            exchange.runOnEventLoop(() -> {
                stopTimer.run();
                if (exchange.isOver()) {
                    return;
                }
                if (failure == null) {
                    forwardResponse(answer, exchange);
                } else {
                    Problems.temporary(
                            exchange, SEARCH_UNAVAILABLE, "The indexer did not send a complete response in time.");
                }
            });
        });
    }

    private static HttpRequest request(Exchange exchange, URI indexer) {
        StringJoiner query = new StringJoiner("&", "?", "").setEmptyValue("");
        for (String name : PARAMETERS) {
            exchange.queryAll(name)
                    .forEach(value -> query.add(name + '=' + URLEncoder.encode(value, StandardCharsets.UTF_8)));
        }
        String base = indexer.toString().replaceFirst("/+$", "");
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + "/v1/search" + query));
        String token = exchange.requestHeader("authorization");
        return (token == null ? request : request.header("Authorization", token)).build();
    }

    private static void forwardResponse(HttpResponse<byte[]> response, Exchange exchange) {
        for (String name : HEADERS) {
            response.headers().firstValue(name).ifPresent(value -> exchange.header(name, value));
        }
        String mediaType = response.headers().firstValue("content-type").orElse("");
        // Any other response is from a proxy in front of the indexer, and is not forwarded.
        if (!mediaType.startsWith("application/json") && !mediaType.startsWith("application/problem+json")) {
            Problems.temporary(
                    exchange, SEARCH_UNAVAILABLE, "PURI_SEARCH_URL leads to a server that is no search indexer.");
            return;
        }
        exchange.answer(response.statusCode(), mediaType, response.body());
    }

    @Override
    public void close() {
        client.shutdownNow();
    }
}

package dev.puri.search;

import dev.puri.http.Exchange;
import dev.puri.http.JsonBody;
import dev.puri.http.Problem;
import dev.puri.http.ProblemType;
import dev.puri.http.RefusedException;
import dev.puri.projection.wait.EventStatus;
import dev.puri.projection.wait.WaitParameters;
import dev.puri.projection.wait.Waiters;
import dev.puri.schemas.log.Refusal;
import dev.puri.search.index.Cursor;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.SearchQuery;
import dev.puri.search.index.SearchResult;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Handles the search requests of services and of the public. The public finds only public collections.
 *
 * <p>A request is parsed on the listener's event loop and searched on a thread of {@link SearchPool}. The methods that
 * search return a {@link Runnable} that sends the response; the pool runs it on the event loop.
 */
final class SearchHandlers {
    static final ProblemType NOT_READY = new ProblemType("not-ready", "The index is not complete yet", 503);
    static final ProblemType ENGINE_UNAVAILABLE =
            new ProblemType("engine-unavailable", "The search engine is unavailable", 503);
    static final ProblemType REFUSED = new ProblemType("refused", "The event of the token was refused", 409);
    static final ProblemType NOT_CAUGHT_UP =
            new ProblemType("not-caught-up", "The index does not yet contain the event of the token", 504);

    /** The names of the listeners in metrics. */
    static final String INTERNAL = "internal";

    static final String PUBLIC = "public";

    private static final Duration[] BUCKETS = LongStream.of(1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000, 5_000)
            .mapToObj(Duration::ofMillis)
            .toArray(Duration[]::new);

    private final Indexer indexer;
    private final SearchPool pool;
    private final EventWaits waits;
    private final WaitParameters waitParameters;
    private final Supplier<@Nullable Set<String>> publicCollections;
    private final MeterRegistry meters;

    /**
     * @param publicCollections returns the collections that the public may search; null while they are not known for
     *     sure
     */
    SearchHandlers(
            Indexer indexer,
            SearchPool pool,
            EventWaits waits,
            WaitParameters waitParameters,
            Supplier<@Nullable Set<String>> publicCollections,
            MeterRegistry meters) {
        this.indexer = indexer;
        this.pool = pool;
        this.waits = waits;
        this.waitParameters = waitParameters;
        this.publicCollections = publicCollections;
        this.meters = meters;
    }

    void handleInternal(Exchange exchange) {
        try {
            SearchRequest request = SearchRequest.parse(exchange, waitParameters);
            if (indexer.serving() == null) {
                respondNotServing(exchange);
                return;
            }
            SearchRequest.AwaitedEvent event = request.awaitedEvent();
            if (event == null) {
                pool.submit(exchange, () -> search(exchange, request));
            } else {
                pool.submit(exchange, () -> await(exchange, event, request));
            }
        } catch (RefusedException e) {
            exchange.problem(e.problem());
        }
    }

    /**
     * Handles a search of the public. The responses do not contain the progress of the index, which would reveal the
     * number of entries.
     */
    void handlePublic(Exchange exchange) {
        try {
            SearchRequest request = SearchRequest.parsePublic(exchange);
            Set<String> publicNames = publicCollections.get();
            if (indexer.serving() == null || publicNames == null) {
                respondNotReady(exchange, "Search is not available yet.");
                return;
            }
            Set<String> requestedNames = request.query().collections();
            Set<String> searchedNames =
                    requestedNames.isEmpty() ? publicNames : intersection(requestedNames, publicNames);
            pool.submit(exchange, () -> searchAsPublic(exchange, request, searchedNames));
        } catch (RefusedException e) {
            exchange.problem(e.problem());
        }
    }

    private static Set<String> intersection(Set<String> names, Set<String> others) {
        Set<String> common = new TreeSet<>(names);
        common.retainAll(others);
        return common;
    }

    private Runnable search(Exchange exchange, SearchRequest request) {
        return searchAndRespond(
                exchange,
                INTERNAL,
                request,
                request.query(),
                (page, cursor) -> json -> ResultJson.write(json, page, request, cursor));
    }

    private Runnable searchAsPublic(Exchange exchange, SearchRequest request, Set<String> searchedNames) {
        if (searchedNames.isEmpty()) {
            // The engine would interpret an empty set as all collections.
            byte[] body = JsonBody.bytes(json -> ResultJson.writePublic(
                    json, SearchResult.EMPTY, request.query().facets(), null));
            return () -> exchange.answer(200, "application/json", body);
        }
        return searchAndRespond(
                exchange,
                PUBLIC,
                request,
                request.query().within(searchedNames),
                (page, cursor) -> json ->
                        ResultJson.writePublic(json, page, request.query().facets(), cursor));
    }

    /** Creates the body of a page of results. */
    @FunctionalInterface
    private interface PageWriter {
        JsonBody write(SearchResult page, @Nullable String cursor);
    }

    private Runnable searchAndRespond(
            Exchange exchange, String listener, SearchRequest request, SearchQuery query, PageWriter pageWriter) {
        try (ServingIndex serving = indexer.acquire()) {
            if (serving == null) {
                return () -> {
                    if (listener.equals(PUBLIC)) {
                        respondNotReady(exchange, "Search is temporarily unavailable.");
                    } else {
                        respondNotServing(exchange);
                    }
                };
            }
            long startedAtNanos = System.nanoTime();
            SearchResult page = serving.index().search(query);
            Cursor next = page.next();
            String cursor = next == null ? null : next.token();
            byte[] body = JsonBody.bytes(pageWriter.write(page, cursor));
            timer(listener, request).record(System.nanoTime() - startedAtNanos, TimeUnit.NANOSECONDS);
            return () -> exchange.answer(200, "application/json", body);
        } catch (Cursor.InvalidException e) {
            Problem problem =
                    Problem.of(SearchRequest.INVALID_CURSOR, "A cursor is valid only for the query that returned it.");
            return () -> exchange.problem(problem);
        } catch (IndexUnavailableException e) {
            Problem problem = Problem.of(
                    ENGINE_UNAVAILABLE,
                    listener.equals(PUBLIC)
                            ? "Search is temporarily unavailable."
                            : Problem.sentence(String.valueOf(e.getMessage())));
            return () -> exchange.header("Retry-After", "1").problem(problem);
        }
    }

    private Timer timer(String listener, SearchRequest request) {
        return Timer.builder("puri.search.queries")
                .description("Duration of a search, from the end of its wait in the queue to the written response")
                .tag("listener", listener)
                .tag("kind", request.query().text() == null ? "list" : "words")
                .serviceLevelObjectives(BUCKETS)
                .register(meters);
    }

    private Runnable await(Exchange exchange, SearchRequest.AwaitedEvent event, SearchRequest request) {
        CompletableFuture<EventStatus> status;
        try {
            status = waits.await(exchange.connection(), event);
        } catch (Waiters.TooManyException e) {
            Problem problem =
                    Problem.of(WaitParameters.TOO_MANY_WAITERS, Problem.sentence(String.valueOf(e.getMessage())));
            return () -> exchange.header("Retry-After", "1").problem(problem);
        }
        return () -> {
            exchange.onCancel(() -> status.cancel(false));
            status.whenComplete((ignored, failure) -> exchange.runOnEventLoop(() -> {
                if (!exchange.isOver()) {
                    respond(exchange, status.join(), request);
                }
            }));
        };
    }

    private void respond(Exchange exchange, EventStatus status, SearchRequest request) {
        switch (status) {
            case EventStatus.Seen ignored -> pool.submit(exchange, () -> search(exchange, request));
            case EventStatus.Refused refused -> exchange.problem(refusalProblem(refused));
            case EventStatus.Foreign foreign ->
                exchange.problem(Problem.of(WaitParameters.FOREIGN_TOKEN, Problem.sentence(foreign.detail())));
            case EventStatus.NotCaughtUp late ->
                exchange.problem(Problem.of(NOT_CAUGHT_UP, Problem.sentence(late.detail())));
        }
    }

    private static Problem refusalProblem(EventStatus.Refused refused) {
        Refusal refusal = refused.refusal();
        Problem problem = Problem.of(
                        REFUSED,
                        refusal == null || refusal.detail().isEmpty()
                                ? "The event " + refused.at() + " was refused."
                                : Problem.sentence(refusal.detail()))
                .with("reason", refused.reason().name());
        if (refusal != null && refusal.holder() != null) {
            Map<String, Object> holder = new LinkedHashMap<>();
            holder.put("owner", refusal.holder().owner().text());
            holder.put("shard", refusal.holder().shard().text());
            problem = problem.with("holder", holder);
        }
        return refusal == null || refusal.survivor() == null
                ? problem
                : problem.with("canonical", refusal.survivor().toString());
    }

    /** Responds that no index serves, because the index failed or is still being filled. */
    private void respondNotServing(Exchange exchange) {
        String failure = indexer.servingFailure();
        if (failure == null) {
            respondNotReady(
                    exchange,
                    "The index is not complete yet: " + indexer.health().waitReason() + ".");
        } else {
            exchange.header("Retry-After", "1")
                    .problem(Problem.of(ENGINE_UNAVAILABLE, Problem.sentence("the index failed: " + failure)));
        }
    }

    static void respondNotReady(Exchange exchange, String detail) {
        exchange.header("Retry-After", "1").problem(Problem.of(NOT_READY, detail));
    }
}

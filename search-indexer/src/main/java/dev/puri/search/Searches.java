package dev.puri.search;

import dev.puri.http.Exchange;
import dev.puri.http.JsonBody;
import dev.puri.http.Problem;
import dev.puri.http.ProblemType;
import dev.puri.http.RefusedException;
import dev.puri.schemas.log.Refusal;
import dev.puri.search.index.Cursor;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.search.index.SearchQuery;
import dev.puri.search.index.SearchResult;
import dev.puri.tail.wait.EventStatus;
import dev.puri.tail.wait.WaitParameters;
import dev.puri.tail.wait.Waiters;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Searches of services, and of the public, which sees public collections only. */
final class Searches {
    static final ProblemType NOT_READY = new ProblemType("not-ready", "The index is not complete yet", 503);
    static final ProblemType ENGINE_UNAVAILABLE =
            new ProblemType("engine-unavailable", "The search engine does not answer", 503);
    static final ProblemType REFUSED = new ProblemType("refused", "The event of the token was refused", 409);
    static final ProblemType NOT_CAUGHT_UP =
            new ProblemType("not-caught-up", "The event of the token was not seen yet", 504);

    /** The listeners' names in metrics. */
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
     * @param publicCollections the collections that the public may search; null while that is not known for sure
     */
    Searches(
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

    void all(Exchange exchange) {
        try {
            SearchRequest request = SearchRequest.parse(exchange, waitParameters);
            if (indexer.serving() == null) {
                notServing(exchange);
                return;
            }
            SearchRequest.Awaited event = request.awaited();
            if (event == null) {
                pool.run(exchange, () -> search(exchange, request));
            } else {
                pool.run(exchange, () -> await(exchange, event, request));
            }
        } catch (RefusedException e) {
            exchange.problem(e.problem());
        }
    }

    /** Leaves out the progress, which would reveal the number of entries. */
    void asPublic(Exchange exchange) {
        try {
            SearchRequest request = SearchRequest.parsePublic(exchange);
            Set<String> open = publicCollections.get();
            if (indexer.serving() == null || open == null) {
                notReady(exchange, "Nothing is answered yet.");
                return;
            }
            Set<String> wanted = request.query().collections();
            Set<String> among = wanted.isEmpty() ? open : bothOf(wanted, open);
            pool.run(exchange, () -> searchAsPublic(exchange, request, among));
        } catch (RefusedException e) {
            exchange.problem(e.problem());
        }
    }

    private static Set<String> bothOf(Set<String> some, Set<String> others) {
        Set<String> both = new TreeSet<>(some);
        both.retainAll(others);
        return both;
    }

    private Runnable search(Exchange exchange, SearchRequest request) {
        return answered(
                exchange,
                INTERNAL,
                request,
                request.fromCursor(),
                (page, cursor) -> json -> ResultJson.write(json, page, request, cursor));
    }

    private Runnable searchAsPublic(Exchange exchange, SearchRequest request, Set<String> among) {
        if (among.isEmpty()) {
            // The engine would take an empty set for all collections.
            SearchResult nothing = new SearchResult(List.of(), 0, true, Map.of(), Map.of(), null);
            byte[] body = JsonBody.bytes(json ->
                    ResultJson.writePublic(json, nothing, request.query().facets(), null));
            return () -> exchange.answer(200, "application/json", body);
        }
        return answered(
                exchange,
                PUBLIC,
                request,
                request.among(among),
                (page, cursor) -> json ->
                        ResultJson.writePublic(json, page, request.query().facets(), cursor));
    }

    /** Writes a page of results. */
    @FunctionalInterface
    private interface Written {
        JsonBody of(SearchResult page, @Nullable String cursor);
    }

    private Runnable answered(
            Exchange exchange, String listener, SearchRequest request, SearchQuery query, Written written) {
        ServingIndex served = indexer.acquire();
        if (served == null) {
            return () -> {
                if (listener.equals(PUBLIC)) {
                    notReady(exchange, "Nothing is answered now.");
                } else {
                    notServing(exchange);
                }
            };
        }
        long begun = System.nanoTime();
        try {
            SearchResult page = served.index().search(query);
            Cursor next = page.next();
            String cursor = next == null ? null : next.token();
            byte[] body = JsonBody.bytes(written.of(page, cursor));
            timer(listener, request).record(System.nanoTime() - begun, TimeUnit.NANOSECONDS);
            return () -> exchange.answer(200, "application/json", body);
        } catch (Cursor.InvalidException e) {
            Problem problem = Problem.of(
                    SearchRequest.INVALID_CURSOR, "The cursor goes with the query that told it, and with no other.");
            return () -> exchange.problem(problem);
        } catch (IndexUnavailableException e) {
            Problem problem = Problem.of(
                    ENGINE_UNAVAILABLE,
                    listener.equals(PUBLIC)
                            ? "Nothing is answered now."
                            : WaitParameters.sentence(e.getMessage() + ""));
            return () -> exchange.header("Retry-After", "1").problem(problem);
        } finally {
            served.release();
        }
    }

    private Timer timer(String listener, SearchRequest request) {
        return Timer.builder("puri.search.queries")
                .description("Searches, from their turn to the written answer")
                .tag("listener", listener)
                .tag("kind", request.query().text() == null ? "list" : "words")
                .serviceLevelObjectives(BUCKETS)
                .register(meters);
    }

    private Runnable await(Exchange exchange, SearchRequest.Awaited event, SearchRequest request) {
        CompletableFuture<EventStatus> status;
        try {
            status = waits.await(exchange.connection(), event);
        } catch (Waiters.TooManyException e) {
            Problem problem = Problem.of(WaitParameters.TOO_MANY_WAITERS, WaitParameters.sentence(e.getMessage() + ""));
            return () -> exchange.header("Retry-After", "1").problem(problem);
        }
        return () -> {
            exchange.onGone(() -> status.cancel(false));
            status.whenComplete((seen, failure) -> exchange.later(() -> {
                if (!exchange.isOver()) {
                    answer(exchange, status.join(), request);
                }
            }));
        };
    }

    private void answer(Exchange exchange, EventStatus status, SearchRequest request) {
        switch (status) {
            case EventStatus.Seen seen -> pool.run(exchange, () -> search(exchange, request));
            case EventStatus.Refused refused -> exchange.problem(refused(refused));
            case EventStatus.Foreign foreign ->
                exchange.problem(Problem.of(WaitParameters.FOREIGN_TOKEN, WaitParameters.sentence(foreign.detail())));
            case EventStatus.NotCaughtUp late ->
                exchange.problem(Problem.of(NOT_CAUGHT_UP, WaitParameters.sentence(late.detail())));
        }
    }

    private static Problem refused(EventStatus.Refused refused) {
        Refusal refusal = refused.refusal();
        Problem problem = Problem.of(
                        REFUSED,
                        refusal == null || refusal.detail().isEmpty()
                                ? "The event " + refused.at() + " was refused."
                                : WaitParameters.sentence(refusal.detail()))
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

    /** Distinguishes an index that failed, with the cause, from one that is being filled. */
    private void notServing(Exchange exchange) {
        String failure = indexer.failure();
        if (failure == null) {
            notReady(
                    exchange,
                    "Nothing is answered before the index is complete: "
                            + indexer.health().progress() + ".");
        } else {
            exchange.header("Retry-After", "1")
                    .problem(Problem.of(ENGINE_UNAVAILABLE, WaitParameters.sentence("the index failed: " + failure)));
        }
    }

    static void notReady(Exchange exchange, String detail) {
        exchange.header("Retry-After", "1").problem(Problem.of(NOT_READY, detail));
    }
}

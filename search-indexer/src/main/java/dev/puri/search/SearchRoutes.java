package dev.puri.search;

import dev.puri.http.Health;
import dev.puri.http.Metrics;
import dev.puri.http.Route;
import dev.puri.http.Scope;
import java.util.ArrayList;
import java.util.List;

/**
 * Every path of a search indexer.
 *
 * <pre>
 * on the internal listener:
 * GET    /v1/search            200, a page of results of all collections and shards · 400 · 503 while no index
 *                              serves; Puri-Index-Lag while the results may be outdated
 *          ?at=&wait=&ref=     409 the event was refused · 504 the index has not caught up with the event
 * POST   /v1/search/reindex    202, starts a rebuild of the index · 503
 * GET    /v1/search/reindex    200, the progress of the rebuild
 * DELETE /v1/search/reindex    202, cancels the rebuild
 * GET    /v1/search/verify     200, lines of JSON: each difference between index and topics, then a summary
 *                              · 503 while another verification runs
 * GET    /v1/stats             200 · 503
 * GET    /v1/digest            200, the digest of each partition, and whether it equals the registrar's · 503
 * GET    /metrics              200
 * GET    /health/started       200, or 503 while the first index is being filled
 *
 * on the public listener:
 * GET    /v1/search            200 · 400 · 503; only public collections, without owner and shard
 *
 * on both listeners:
 * GET    /openapi.json         200
 * GET    /problems/{name}      200, explains a problem type · 404
 * GET    /health/live          200
 * GET    /health/ready         200, or 503 while the results may be outdated
 * </pre>
 *
 * The listener handles the errors of every path (404, 405, 414, 431, 500).
 */
final class SearchRoutes {
    /** The header with the staleness of the index in seconds; absent while the index is fresh. */
    static final String LAG = "Puri-Index-Lag";

    private SearchRoutes() {}

    /**
     * Returns the routes of the internal listener.
     *
     * @param stalenessHeader the header {@value #LAG}, the staleness of the index in seconds
     */
    static List<Route> internalRoutes(
            SearchHandlers searchHandlers,
            AdminRequests adminRequests,
            Health health,
            Metrics metrics,
            Route.DynamicHeader stalenessHeader) {
        List<Route> routes = new ArrayList<>();
        routes.add(Route.get("/v1/search", Scope.RESOLVE, searchHandlers::handleInternal)
                .withQueryParameters(SearchRequest.PARAMETERS)
                .withHeader(stalenessHeader));
        routes.add(Route.post("/v1/search/reindex", Scope.ADMIN, adminRequests::beginRebuild));
        routes.add(Route.get("/v1/search/reindex", Scope.ADMIN, adminRequests::rebuildStatus));
        routes.add(Route.delete("/v1/search/reindex", Scope.ADMIN, adminRequests::cancelRebuild));
        routes.add(Route.get("/v1/search/verify", Scope.ADMIN, adminRequests::verify));
        routes.add(Route.get("/v1/stats", Scope.ADMIN, adminRequests::stats).withHeader(stalenessHeader));
        routes.add(Route.get("/v1/digest", Scope.ADMIN, adminRequests::digest));
        routes.add(Route.openApi(SearchRoutes.class, "/openapi-search.json"));
        routes.add(Problems.pages());
        routes.addAll(health.routes());
        routes.add(metrics.route());
        return List.copyOf(routes);
    }

    /** Returns the routes of the public listener. */
    static List<Route> publicRoutes(SearchHandlers searchHandlers, Health health, Route.DynamicHeader stalenessHeader) {
        List<Route> routes = new ArrayList<>();
        routes.add(Route.get("/v1/search", Scope.RESOLVE, searchHandlers::handlePublic)
                .withQueryParameters(SearchRequest.PUBLIC_PARAMETERS)
                .withHeader(stalenessHeader));
        routes.add(Route.openApi(SearchRoutes.class, "/openapi-search-public.json"));
        routes.add(Problems.pages());
        routes.addAll(health.routesWithoutDetails());
        return List.copyOf(routes);
    }
}

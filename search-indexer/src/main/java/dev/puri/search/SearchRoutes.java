package dev.puri.search;

import dev.puri.http.Health;
import dev.puri.http.Metrics;
import dev.puri.http.Route;
import dev.puri.http.Scope;
import java.util.ArrayList;
import java.util.List;

/**
 * Every path that an indexer answers.
 *
 * <pre>
 * inside:
 * GET    /v1/search            200, a page of results, mixed · 400 · 503 until an index was complete once,
 *                              or the engine is away; Puri-Index-Lag while what is answered may be old
 *          ?at=&wait=&ref=     409 refused · 504 not caught up
 * POST   /v1/search/reindex    202, starts a rebuild of the index · 503
 * GET    /v1/search/reindex    200, the progress of the rebuild
 * DELETE /v1/search/reindex    202, cancels the rebuild
 * GET    /v1/search/verify     200, lines of JSON: each difference between index and topics, at last the
 *                              counts · 503 while another is under way
 * GET    /v1/stats             200 · 503
 * GET    /metrics              200
 * GET    /health/started       200, or 503 while the first index is being filled
 *
 * for the public:
 * GET    /v1/search            200 · 400 · 503, among public collections, without owner and shard
 *
 * on both:
 * GET    /openapi.json         200
 * GET    /problems/{name}      200, what a problem means and what to do; 404
 * GET    /health/live          200
 * GET    /health/ready         200, or 503 while what is answered may be old
 * </pre>
 *
 * What holds for every path (404, 405, 414, 431, 500) is the listener's.
 */
final class SearchRoutes {
    /** The header with the staleness of the index in seconds, if that is noticeable. */
    static final String LAG = "Puri-Index-Lag";

    private SearchRoutes() {}

    /**
     * @param lag borne by what the index answers while it is not fresh
     */
    static List<Route> inside(
            Searches searches, AdminRequests adminRequests, Health health, Metrics metrics, Route.DynamicHeader lag) {
        List<Route> all = new ArrayList<>();
        all.add(Route.get("/v1/search", Scope.RESOLVE, searches::all)
                .taking(SearchRequest.PARAMETERS)
                .withHeader(lag));
        all.add(Route.post("/v1/search/reindex", Scope.ADMIN, adminRequests::beginRebuild));
        all.add(Route.get("/v1/search/reindex", Scope.ADMIN, adminRequests::rebuildStatus));
        all.add(Route.delete("/v1/search/reindex", Scope.ADMIN, adminRequests::cancelRebuild));
        all.add(Route.get("/v1/search/verify", Scope.ADMIN, adminRequests::verify));
        all.add(Route.get("/v1/stats", Scope.ADMIN, adminRequests::stats).withHeader(lag));
        all.add(Route.openApi(SearchRoutes.class, "/openapi-search.json"));
        all.add(Problems.pages());
        all.addAll(health.routes());
        all.add(metrics.route());
        return List.copyOf(all);
    }

    /** The only routes of the public listener. */
    static List<Route> outside(Searches searches, Health health, Route.DynamicHeader lag) {
        List<Route> all = new ArrayList<>();
        all.add(Route.get("/v1/search", Scope.RESOLVE, searches::asPublic)
                .taking(SearchRequest.PUBLIC_PARAMETERS)
                .withHeader(lag));
        all.add(Route.openApi(SearchRoutes.class, "/openapi-search-public.json"));
        all.add(Problems.pages());
        all.addAll(health.bareRoutes());
        return List.copyOf(all);
    }
}

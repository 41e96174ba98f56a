package dev.puri.resolver;

import dev.puri.http.Health;
import dev.puri.http.Metrics;
import dev.puri.http.Route;
import dev.puri.http.Scope;
import java.util.ArrayList;
import java.util.List;

/**
 * Every path that a resolver answers.
 *
 * <pre>
 * GET  /v1/identities/{ref}   200 found, merged · 400 malformed · 404 unknown · 410 deleted
 *        ?at=&wait=           409 refused · 504 not-caught-up
 * POST /v1/resolve            200, a verdict for each reference · 400, 408, 413 for the batch itself
 *        both                 503 with Retry-After, until the table was complete once;
 *                             Puri-Table-Lag while what is answered may be old
 * GET  /v1/changes            200, server-sent events · 400 · 503
 * GET  /v1/export             200, every row and the cursor from which changes go on · 400 · 503
 * GET  /v1/rejections         200 · 400
 * GET  /v1/collections        200, or 503 until they were read
 * GET  /v1/search             what a search indexer answers · 404 where none is named · 503
 * GET  /v1/stats              200, or 503 and Puri-Table-Lag like the look-ups
 * GET  /                      200, the page for people; 304
 * GET  /page/{file}           200, 304, or 404
 * GET  /openapi.json          200
 * GET  /problems/{name}       200, what a problem means and what to do; 404
 * GET  /health/started        200, or 503 while the first table is being filled
 * GET  /health/live           200
 * GET  /health/ready          200, or 503 while what is answered may be old
 * GET  /metrics               200
 * </pre>
 *
 * Verdicts are results; mistakes in a request are problems (RFC 9457). The listener responds with the statuses that any
 * path may have (404, 405, 414, 431, 500).
 */
final class Routes {
    /** The staleness of the table in seconds; absent while it is small. */
    static final String LAG = "Puri-Table-Lag";

    private Routes() {}

    /**
     * @param lag the header of responses from a stale table
     */
    static List<Route> of(
            LookUps lookUps,
            Feeds feeds,
            Exports exports,
            Search search,
            Health health,
            Metrics metrics,
            Route.DynamicHeader lag) {
        List<Route> all = new ArrayList<>();
        all.add(Route.get("/v1/identities/{ref}", Scope.RESOLVE, lookUps::one)
                .taking("at", "wait")
                .withHeader(lag));
        all.add(Route.post("/v1/resolve", Scope.RESOLVE, lookUps::batch)
                .taking("wait")
                .withHeader(lag));
        all.add(Route.get("/v1/changes", Scope.CHANGES, feeds::changes).taking("collection"));
        all.add(Route.get("/v1/export", Scope.CHANGES, exports::export)
                .taking("collection", "format")
                .withHeader(lag));
        all.add(Route.get("/v1/rejections", Scope.ADMIN, feeds::rejections).taking("puri", "position", "limit"));
        all.add(Route.get("/v1/collections", Scope.RESOLVE, feeds::collections));
        all.add(Route.get("/v1/search", Scope.RESOLVE, search::search).taking(Search.PARAMETERS));
        all.add(Route.get("/v1/stats", Scope.ADMIN, feeds::stats).withHeader(lag));
        all.add(Route.openApi(Routes.class, "/openapi.json"));
        all.addAll(new Page().routes());
        all.add(Problems.pages());
        all.addAll(health.routes());
        all.add(metrics.route());
        return List.copyOf(all);
    }
}

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
 * POST /v1/resolve            200, a verdict for each reference · 400, 408, 413 for the whole batch
 *        both look-ups        503 with Retry-After, until the first table is complete;
 *                             Puri-Table-Lag while the table may be stale
 * GET  /v1/changes            200, server-sent events · 400 · 503
 * GET  /v1/export             200, every row and the cursor from which /v1/changes continues · 400 · 503
 * GET  /v1/rejections         200 · 400
 * GET  /v1/collections        200, or 503 until the collections are read
 * GET  /v1/search             the response of the search indexer · 404 if no indexer is set · 503
 * GET  /v1/stats              200, or 503 and Puri-Table-Lag like the look-ups
 * GET  /v1/digest             200, digests of the table and their comparison with the registrar · 503
 * POST /v1/table/rebuild      202, fills a new table from the topic's beginning · 409
 * GET  /v1/table/rebuild      200, the progress of the rebuild
 * GET  /                      200, the page for people; 304
 * GET  /page/{file}           200, 304, or 404
 * GET  /openapi.json          200
 * GET  /problems/{name}       200, the explanation of a problem; 404
 * GET  /health/started        200, or 503 until the first table is complete
 * GET  /health/live           200
 * GET  /health/ready          200, or 503 while the table may be stale
 * GET  /metrics               200
 * </pre>
 *
 * A verdict is a result, also with status 404 or 410. A mistake in a request is a problem (RFC 9457). The listener
 * itself responds with the statuses that any path may have (404, 405, 414, 431, 500).
 */
final class Routes {
    /** The response header with the staleness of the table in seconds; absent while the staleness is small. */
    static final String LAG = "Puri-Table-Lag";

    private Routes() {}

    /**
     * @param stalenessHeader the response header that reports a stale table
     */
    static List<Route> of(
            LookUps lookUps,
            TopicHandlers topicHandlers,
            Exports exports,
            Search search,
            TableAdmin tableAdmin,
            Health health,
            Metrics metrics,
            Route.DynamicHeader stalenessHeader) {
        List<Route> routes = new ArrayList<>();
        routes.add(Route.get("/v1/identities/{ref}", Scope.RESOLVE, lookUps::answerOne)
                .withQueryParameters("at", "wait")
                .withHeader(stalenessHeader));
        routes.add(Route.post("/v1/resolve", Scope.RESOLVE, lookUps::answerBatch)
                .withQueryParameters("wait")
                .withHeader(stalenessHeader));
        routes.add(Route.get("/v1/changes", Scope.CHANGES, topicHandlers::openChanges)
                .withQueryParameters("collection"));
        routes.add(Route.get("/v1/export", Scope.CHANGES, exports::startExport)
                .withQueryParameters("collection", "format")
                .withHeader(stalenessHeader));
        routes.add(Route.get("/v1/rejections", Scope.ADMIN, topicHandlers::answerRejections)
                .withQueryParameters("puri", "position", "limit"));
        routes.add(Route.get("/v1/collections", Scope.RESOLVE, topicHandlers::answerCollections));
        routes.add(Route.get("/v1/search", Scope.RESOLVE, search::forward).withQueryParameters(Search.PARAMETERS));
        routes.add(
                Route.get("/v1/stats", Scope.ADMIN, topicHandlers::answerStats).withHeader(stalenessHeader));
        routes.add(Route.get("/v1/digest", Scope.ADMIN, tableAdmin::answerDigest));
        routes.add(Route.post("/v1/table/rebuild", Scope.ADMIN, tableAdmin::beginRebuild));
        routes.add(Route.get("/v1/table/rebuild", Scope.ADMIN, tableAdmin::answerRebuildStatus));
        routes.add(Route.openApi(Routes.class, "/openapi.json"));
        routes.addAll(new WebPage().routes());
        routes.add(Problems.pages());
        routes.addAll(health.routes());
        routes.add(metrics.route());
        return List.copyOf(routes);
    }
}

package dev.puri.resolver;

import dev.puri.http.Health;
import dev.puri.http.Route;
import dev.puri.http.Scope;
import java.util.ArrayList;
import java.util.List;

/**
 * Every path of the public listener.
 *
 * <pre>
 * GET  /v1/identities/{ref}   200 found, merged · 400 malformed · 404 unknown · 410 deleted
 * POST /v1/resolve            200, a verdict for each handle · 400, 408, 413 for the whole batch
 *        both look-ups        503 with Retry-After, until the first table is complete;
 *                             Puri-Table-Lag while the table may be stale
 * GET  /openapi.json          200
 * GET  /problems/{name}       200, the explanation of a problem; 404
 * GET  /health/live           200
 * GET  /health/ready          200, or 503
 * </pre>
 *
 * The other paths of the internal {@link Routes} do not exist on this listener.
 */
final class PublicRoutes {
    private PublicRoutes() {}

    /**
     * @param stalenessHeader the response header {@code Puri-Table-Lag}, the staleness of the table in seconds
     */
    static List<Route> of(PublicLookUps lookUps, Health health, Route.DynamicHeader stalenessHeader) {
        List<Route> routes = new ArrayList<>();
        routes.add(Route.get("/v1/identities/{ref}", Scope.RESOLVE, lookUps::answerOne)
                .withHeader(stalenessHeader));
        routes.add(
                Route.post("/v1/resolve", Scope.RESOLVE, lookUps::answerBatch).withHeader(stalenessHeader));
        routes.add(Route.openApi(Routes.class, "/openapi-public.json"));
        routes.add(Problems.pages());
        routes.addAll(health.routesWithoutDetails());
        return List.copyOf(routes);
    }
}

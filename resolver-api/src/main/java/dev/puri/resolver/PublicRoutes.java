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
 * POST /v1/resolve            200, a verdict for each handle · 400, 408, 413 for the batch itself
 *        both                 503 with Retry-After, until the table was complete once;
 *                             Puri-Table-Lag while what is answered may be old
 * GET  /openapi.json          200
 * GET  /problems/{name}       200, what a problem means and what to do; 404
 * GET  /health/live           200
 * GET  /health/ready          200, or 503
 * </pre>
 *
 * Other paths of the internal {@link Routes} do not exist here, so nothing has to hide them.
 */
final class PublicRoutes {
    private PublicRoutes() {}

    /**
     * @param lag the header of responses from a stale table
     */
    static List<Route> of(PublicLookUps lookUps, Health health, Route.DynamicHeader lag) {
        List<Route> all = new ArrayList<>();
        all.add(Route.get("/v1/identities/{ref}", Scope.RESOLVE, lookUps::one).withHeader(lag));
        all.add(Route.post("/v1/resolve", Scope.RESOLVE, lookUps::batch).withHeader(lag));
        all.add(Route.openApi(Routes.class, "/openapi-public.json"));
        all.add(Problems.pages());
        all.addAll(health.bareRoutes());
        return List.copyOf(all);
    }
}

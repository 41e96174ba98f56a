package dev.puri.search;

import dev.puri.http.ProblemPages;
import dev.puri.http.ProblemType;
import dev.puri.http.Route;
import dev.puri.projection.wait.WaitParameters;
import java.util.List;

/**
 * The problem types of a search indexer, besides those of every listener. {@code problems-search.properties} explains
 * them.
 */
final class Problems {
    static final List<ProblemType> ALL = List.of(
            SearchHandlers.NOT_READY,
            SearchHandlers.ENGINE_UNAVAILABLE,
            SearchHandlers.REFUSED,
            SearchHandlers.NOT_CAUGHT_UP,
            SearchPool.TOO_MANY_SEARCHES,
            SearchRequest.INVALID_CURSOR,
            AdminRequests.VERIFY_UNDER_WAY,
            AdminRequests.TOO_MANY_TO_VERIFY,
            ProblemType.INVALID_PARAMETER,
            WaitParameters.INVALID_TOKEN,
            WaitParameters.FOREIGN_TOKEN,
            WaitParameters.TOO_MANY_WAITERS);

    private Problems() {}

    /**
     * Returns the route {@code GET /problems/{name}} of the pages that explain the problem types. The pages reveal
     * nothing else, so the public listener has the same route.
     */
    static Route pages() {
        return ProblemPages.route(ALL, Problems.class, "/problems-search.properties");
    }
}

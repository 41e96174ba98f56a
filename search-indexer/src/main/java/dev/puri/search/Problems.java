package dev.puri.search;

import dev.puri.http.ProblemPages;
import dev.puri.http.ProblemType;
import dev.puri.http.Route;
import dev.puri.tail.wait.WaitParameters;
import java.util.List;

/** Every problem of an indexer beside those of any listener; {@code problems-search.properties} explains them. */
final class Problems {
    static final List<ProblemType> ALL = List.of(
            Searches.NOT_READY,
            Searches.ENGINE_UNAVAILABLE,
            Searches.REFUSED,
            Searches.NOT_CAUGHT_UP,
            SearchPool.TOO_MANY_SEARCHES,
            SearchRequest.INVALID_CURSOR,
            AdminRequests.VERIFY_UNDER_WAY,
            AdminRequests.TOO_MANY_TO_VERIFY,
            WaitParameters.INVALID_PARAMETER,
            WaitParameters.INVALID_TOKEN,
            WaitParameters.FOREIGN_TOKEN,
            WaitParameters.TOO_MANY_WAITERS);

    private Problems() {}

    /**
     * {@code GET /problems/{name}}, the page of each; the same for the public, since they tell of nothing but
     * themselves.
     */
    static Route pages() {
        return ProblemPages.route(ALL, Problems.class, "/problems-search.properties");
    }
}

package dev.puri.resolver;

import dev.puri.http.Exchange;
import dev.puri.http.Problem;
import dev.puri.http.ProblemPages;
import dev.puri.http.ProblemType;
import dev.puri.http.Route;
import dev.puri.projection.wait.WaitParameters;
import java.util.List;

/**
 * The problem types of a resolver, in addition to those of every listener; {@code problems.properties} explains them.
 */
final class Problems {
    static final List<ProblemType> ALL = List.of(
            LookUps.NOT_READY,
            Search.NO_SEARCH,
            Search.SEARCH_UNAVAILABLE,
            ProblemType.INVALID_PARAMETER,
            WaitParameters.INVALID_TOKEN,
            WaitParameters.FOREIGN_TOKEN,
            WaitParameters.TOO_MANY_WAITERS,
            TopicHandlers.INVALID_EVENT_ID,
            TopicHandlers.TOO_MANY_STREAMS,
            TopicHandlers.TOO_MANY_REPLAYS,
            Exports.TOO_MANY_EXPORTS,
            TableAdmin.CANNOT_REBUILD,
            ResolveRequest.NOT_JSON,
            ResolveRequest.INVALID_BODY,
            ResolveRequest.TOO_MANY_REFS);

    private Problems() {}

    /**
     * Returns the route {@code GET /problems/{name}} of the pages that explain the problem types. The pages reveal
     * nothing else, so the public listener has the same route.
     */
    static Route pages() {
        return ProblemPages.route(ALL, Problems.class, "/problems.properties");
    }

    /**
     * Responds with a problem that may end soon. The header {@code Retry-After} asks the client to repeat the request.
     */
    static void temporary(Exchange exchange, ProblemType type, String detail) {
        exchange.header("Retry-After", "1").problem(Problem.of(type, detail));
    }

    /** Responds that a query parameter is invalid. */
    static void invalidParameter(Exchange exchange, String name, Exception mistake) {
        exchange.problem(Problem.of(ProblemType.INVALID_PARAMETER, name + ": " + mistake.getMessage() + "."));
    }
}

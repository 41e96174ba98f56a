package dev.puri.http;

import java.util.List;

/**
 * A type of problem, identified by a URI that never changes (RFC 9457, 3.1.1).
 *
 * @param name the last segment of the URI, e.g. {@code not-ready}
 * @param title a summary, the same for every occurrence
 * @param status the HTTP status of the response
 */
public record ProblemType(String name, String title, int status) {
    /** The common prefix of the URIs. {@link ProblemPages} serves the pages. */
    public static final String BASE = "https://puri.dev/problems/";

    public static final ProblemType BAD_REQUEST = new ProblemType("bad-request", "The request is not HTTP", 400);
    public static final ProblemType UNKNOWN_PARAMETER =
            new ProblemType("unknown-parameter", "The query has an unknown parameter", 400);
    public static final ProblemType UNAUTHENTICATED =
            new ProblemType("unauthenticated", "The request has no valid token", 401);
    public static final ProblemType FORBIDDEN =
            new ProblemType("forbidden", "The token does not allow this request", 403);
    public static final ProblemType NO_SUCH_PATH = new ProblemType("no-such-path", "There is no such path", 404);
    public static final ProblemType METHOD_NOT_ALLOWED =
            new ProblemType("method-not-allowed", "The path does not allow this method", 405);
    public static final ProblemType HEADERS_TOO_SLOW =
            new ProblemType("headers-too-slow", "The request's headers did not arrive in time", 408);
    public static final ProblemType BODY_TOO_SLOW =
            new ProblemType("body-too-slow", "The request's body did not arrive in time", 408);
    public static final ProblemType BODY_TOO_LARGE =
            new ProblemType("body-too-large", "The request's body is too large", 413);
    public static final ProblemType URL_TOO_LONG = new ProblemType("url-too-long", "The URL is too long", 414);
    public static final ProblemType MISDIRECTED =
            new ProblemType("misdirected", "The server does not serve this host", 421);
    public static final ProblemType HEADERS_TOO_LARGE =
            new ProblemType("headers-too-large", "The request's headers are too large", 431);
    public static final ProblemType CANNOT_VERIFY =
            new ProblemType("cannot-verify", "Tokens cannot be verified now", 503);
    public static final ProblemType ANSWER_TOO_SLOW =
            new ProblemType("answer-too-slow", "The server did not respond in time", 503);
    public static final ProblemType DRAINING = new ProblemType("draining", "The server is stopping", 503);
    public static final ProblemType INTERNAL = new ProblemType("internal", "The server has a bug", 500);

    /** For handlers; a listener does not parse the values of parameters. */
    public static final ProblemType INVALID_PARAMETER =
            new ProblemType("invalid-parameter", "A query parameter has an invalid value", 400);

    /** Returns the types with which a listener itself responds, independent of its routes. */
    public static List<ProblemType> ofListeners() {
        return List.of(
                BAD_REQUEST,
                UNKNOWN_PARAMETER,
                UNAUTHENTICATED,
                FORBIDDEN,
                NO_SUCH_PATH,
                METHOD_NOT_ALLOWED,
                HEADERS_TOO_SLOW,
                BODY_TOO_SLOW,
                BODY_TOO_LARGE,
                URL_TOO_LONG,
                MISDIRECTED,
                HEADERS_TOO_LARGE,
                INTERNAL,
                CANNOT_VERIFY,
                ANSWER_TOO_SLOW,
                DRAINING);
    }

    /** Returns the URI, {@link #BASE} with the name. */
    public String uri() {
        return BASE + name;
    }
}

package dev.puri.http;

/**
 * A kind of problem, told apart by a URI that never changes (RFC 9457, 3.1.1).
 *
 * @param name last segment of the URI, e.g. {@code not-ready}
 * @param title the same for every occurrence
 * @param status the HTTP status that goes with it
 */
public record ProblemType(String name, String title, int status) {
    /** What the URIs begin with. They identify; nothing need stand there. */
    public static final String BASE = "https://puri.dev/problems/";

    public static final ProblemType BAD_REQUEST = new ProblemType("bad-request", "The request is not HTTP", 400);
    public static final ProblemType UNKNOWN_PARAMETER =
            new ProblemType("unknown-parameter", "The query has an unknown parameter", 400);
    public static final ProblemType NO_SUCH_PATH = new ProblemType("no-such-path", "There is no such path", 404);
    public static final ProblemType METHOD_NOT_ALLOWED =
            new ProblemType("method-not-allowed", "The path does not take this method", 405);
    public static final ProblemType BODY_TOO_SLOW =
            new ProblemType("body-too-slow", "The request's body did not arrive in time", 408);
    public static final ProblemType BODY_TOO_LARGE =
            new ProblemType("body-too-large", "The request's body is too large", 413);
    public static final ProblemType URL_TOO_LONG = new ProblemType("url-too-long", "The URL is too long", 414);
    public static final ProblemType HEADERS_TOO_LARGE =
            new ProblemType("headers-too-large", "The request's headers are too large", 431);
    public static final ProblemType INTERNAL = new ProblemType("internal", "The server has a bug", 500);

    /** The URI. */
    public String uri() {
        return BASE + name;
    }
}

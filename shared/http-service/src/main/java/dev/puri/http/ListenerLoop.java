package dev.puri.http;

import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.ServerSSLOptions;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The HTTP server of a listener on one event loop. It checks each request and passes it to its route. All loops of a
 * listener share its port.
 */
final class ListenerLoop extends VerticleBase {
    /** In Vert.x: any free port, the same for all servers with this value. */
    private static final int FREE_SHARED_PORT = -1;

    /** Vert.x logs a warning if the production of a piece of a download takes longer. */
    private static final long MAX_PIECE_SECONDS = 60;

    private final ListenerOptions options;
    private final RouteTable table;
    private final MeasuredRoute placeholderRoute;
    private final ListenerState state;
    private final RequestAuthorizer authorizer;
    private final AllowedHosts hosts;
    private final ConnectionDeadlines deadlines;
    private final HttpServerOptions serverOptions;
    private volatile int port;
    private Future<HttpServer> server = Future.failedFuture("not started");
    private @Nullable WorkerExecutor downloads;

    /**
     * @param placeholderRoute the route under which metrics count requests without a route
     * @param tls null if TLS is off
     */
    ListenerLoop(
            ListenerOptions options,
            RouteTable table,
            MeasuredRoute placeholderRoute,
            ListenerState state,
            RequestAuthorizer authorizer,
            @Nullable ServerSSLOptions tls) {
        this.options = options;
        this.state = state;
        this.table = table;
        this.placeholderRoute = placeholderRoute;
        this.authorizer = authorizer;
        this.hosts = AllowedHosts.of(options);
        this.deadlines = new ConnectionDeadlines(options.limits(), state);
        this.serverOptions = serverOptions(options.limits(), tls);
    }

    private static HttpServerOptions serverOptions(HttpLimits limits, @Nullable ServerSSLOptions tls) {
        HttpServerOptions options = new HttpServerOptions()
                .setMaxInitialLineLength(limits.maxUrlBytes())
                .setMaxHeaderSize(limits.maxHeaderBytes())
                .setHandle100ContinueAutomatically(true)
                .setHttp2ClearTextEnabled(false)
                // Otherwise every request would pass through the handlers of WebSocket compression.
                .setPerFrameWebSocketCompressionSupported(false)
                .setPerMessageWebSocketCompressionSupported(false)
                .setInitialSettings(new Http2Settings()
                        .setMaxConcurrentStreams(limits.maxConnectionRequests())
                        .setMaxHeaderListSize(limits.maxHeaderBytes()))
                .setHttp2RstFloodMaxRstFramePerWindow(limits.maxResets());
        if (tls != null) {
            options.setSsl(true)
                    .setUseAlpn(true)
                    .setKeyCertOptions(tls.getKeyCertOptions())
                    .setTrustOptions(tls.getTrustOptions())
                    .setClientAuth(tls.getClientAuth())
                    .setEnabledSecureTransportProtocols(tls.getEnabledSecureTransportProtocols())
                    .setSslHandshakeTimeout(tls.getSslHandshakeTimeout())
                    .setSslHandshakeTimeoutUnit(tls.getSslHandshakeTimeoutUnit());
        }
        return options;
    }

    int port() {
        return port;
    }

    Vertx vertx() {
        return vertx;
    }

    Context context() {
        return context;
    }

    /**
     * Returns the executor that produces downloads, one piece at a time. Its thread is separate from other worker
     * threads, so that downloads do not delay their work. Must be called on the event loop. Vert.x closes the executor
     * with the loop.
     */
    WorkerExecutor downloads() {
        if (downloads == null) {
            downloads = vertx.createSharedWorkerExecutor("puri-downloads", 1, MAX_PIECE_SECONDS, TimeUnit.SECONDS);
        }
        return downloads;
    }

    ListenerOptions options() {
        return options;
    }

    ConnectionDeadlines deadlines() {
        return deadlines;
    }

    void countExceeded(Limit limit) {
        state.countExceeded(limit);
    }

    @Override
    public Future<?> start() {
        int port = options.port() == 0 ? FREE_SHARED_PORT : options.port();
        vertx.setPeriodic(deadlines.checkPeriod().toMillis(), id -> deadlines.check());
        server = vertx.createHttpServer(serverOptions)
                .connectionHandler(this::onConnect)
                .requestHandler(this::handleWhenWritable)
                .invalidRequestHandler(this::refuseMalformed)
                .listen(port, options.host())
                .recover(cause -> Future.failedFuture(new CannotListenException(
                        "cannot listen on " + options.host() + ":" + options.port() + ": " + cause.getMessage(),
                        cause)));
        return server.onSuccess(bound -> this.port = bound.actualPort());
    }

    @Override
    public Future<?> stop() {
        return server.compose(
                bound -> bound.shutdown(options.limits().closeGrace().toMillis(), TimeUnit.MILLISECONDS),
                startFailure -> Future.succeededFuture());
    }

    /** Uses renewed certificates for new connections. */
    Future<?> renewCertificates(ServerSSLOptions tls) {
        return server.compose(bound -> bound.updateSSLOptions(tls));
    }

    private void onConnect(HttpConnection connection) {
        RawConnection.useStrictDecoder(connection, serverOptions);
        RawConnection.limitStreams(connection, options.limits().maxConnectionRequests());
        deadlines.add(connection);
    }

    /**
     * Delays a request until the client has read previous responses. Otherwise, if a client sends requests and does not
     * read, the responses would accumulate in memory. The connection's deadline still applies.
     */
    private void handleWhenWritable(HttpServerRequest request) {
        HttpServerResponse response = request.response();
        if (!response.writeQueueFull()) {
            handle(request);
            return;
        }
        request.pause();
        response.drainHandler(drained -> {
            response.drainHandler(null);
            request.resume();
            handle(request);
        });
    }

    private void handle(HttpServerRequest request) {
        if (state.isDraining()) {
            exchangeWithoutRoute(request)
                    .header("retry-after", "1")
                    .problem(Problem.of(ProblemType.DRAINING, "Try again: another instance will respond."));
            request.connection().shutdown();
            return;
        }
        String uri = request.uri();
        if (uri != null && uri.length() > options.limits().maxUrlBytes()) {
            // Only on HTTP/2; the HTTP/1.1 parser refuses such a URL earlier.
            exchangeWithoutRoute(request).problem(urlTooLong());
            return;
        }
        Problem refusal = hosts.check(request);
        if (refusal != null) {
            if (refusal.type().equals(ProblemType.BAD_REQUEST)) {
                refuse(request, refusal);
            } else {
                exchangeWithoutRoute(request).problem(refusal);
            }
            return;
        }
        String path = UrlText.utf8OfLatin1(request.path());
        if (path == null) {
            exchangeWithoutRoute(request)
                    .problem(Problem.of(
                            ProblemType.BAD_REQUEST, "The path is not valid UTF-8, or has control characters in it."));
            return;
        }
        switch (table.find(request.method().name(), path)) {
            case RouteTable.Found found -> {
                Exchange exchange = new Exchange(this, request, found.route(), found.parameter());
                exchange.runGuarded(() -> admit(request, found.route().route(), exchange));
            }
            case RouteTable.MethodNotAllowed notAllowed -> {
                String allowed = String.join(", ", notAllowed.allowed());
                exchangeWithoutRoute(request)
                        .header("Allow", allowed)
                        .problem(Problem.of(
                                ProblemType.METHOD_NOT_ALLOWED,
                                "The path allows " + allowed + ", not " + request.method() + "."));
            }
            case RouteTable.NoSuchPath noSuchPath ->
                exchangeWithoutRoute(request).problem(Problem.of(ProblemType.NO_SUCH_PATH, noSuchPath.detail()));
        }
    }

    private void admit(HttpServerRequest request, Route route, Exchange exchange) {
        if (authorizer.isOpen(route.scope())) {
            dispatch(request, route, exchange);
        } else {
            authorizer.admit(exchange, route.scope(), () -> dispatch(request, route, exchange));
        }
    }

    private static void dispatch(HttpServerRequest request, Route route, Exchange exchange) {
        Problem problem = route.ignoresUnknownQuery() ? null : checkQuery(request, route);
        if (problem != null) {
            exchange.problem(problem);
        } else {
            route.endpoint().answer(exchange);
        }
    }

    private static @Nullable Problem checkQuery(HttpServerRequest request, Route route) {
        String query = request.query();
        if (query == null || query.isEmpty()) {
            return null;
        }
        Set<String> unknown;
        try {
            unknown = new TreeSet<>(request.params().names());
        } catch (IllegalArgumentException e) {
            return Problem.of(ProblemType.BAD_REQUEST, "The query cannot be decoded: " + e.getMessage() + ".");
        }
        unknown.removeAll(route.queryParameters());
        return unknown.isEmpty() ? null : unknownParameters(route, unknown);
    }

    private static Problem unknownParameters(Route route, Set<String> unknown) {
        String accepted = route.queryParameters().isEmpty()
                ? "has no query parameters"
                : "accepts " + String.join(", ", new TreeSet<>(route.queryParameters()));
        return Problem.of(
                        ProblemType.UNKNOWN_PARAMETER,
                        "Unknown query parameters: " + String.join(", ", unknown) + "; " + route.path() + " " + accepted
                                + ".")
                .with("unknown", List.copyOf(unknown));
    }

    /** Responds to a malformed request, after which an HTTP/1 connection cannot be read any further. */
    private void refuseMalformed(HttpServerRequest request) {
        refuse(request, malformedProblem(request.decoderResult().cause()));
    }

    /** Responds with a problem, and closes an HTTP/1 connection. On HTTP/2 the other requests continue. */
    private void refuse(HttpServerRequest request, Problem problem) {
        if (request.version() == HttpVersion.HTTP_2) {
            exchangeWithoutRoute(request).problem(problem);
        } else {
            exchangeWithoutRoute(request).header("Connection", "close").problem(problem);
            request.connection().close();
        }
    }

    private Problem malformedProblem(Throwable cause) {
        if (cause instanceof TooLongHttpLineException) {
            return urlTooLong();
        }
        if (cause instanceof TooLongHttpHeaderException) {
            state.countExceeded(Limit.HEADERS_TOO_LARGE);
            return Problem.of(
                    ProblemType.HEADERS_TOO_LARGE,
                    "The headers must not exceed " + options.limits().maxHeaderBytes() + " bytes.");
        }
        return RequestBody.framingProblem(cause, "The request line or the headers are invalid.");
    }

    private Problem urlTooLong() {
        state.countExceeded(Limit.URL_TOO_LONG);
        return Problem.of(
                ProblemType.URL_TOO_LONG,
                "The request line must not exceed " + options.limits().maxUrlBytes() + " bytes.");
    }

    /** Creates an exchange for a request that is answered without a route, or before its route is found. */
    private Exchange exchangeWithoutRoute(HttpServerRequest request) {
        return new Exchange(this, request, placeholderRoute, "");
    }
}

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

/** One event loop's share of a listener; all of them share the port. */
final class ListenerLoop extends VerticleBase {
    /** To Vert.x: any free port, but the same one for all that ask so. */
    private static final int FREE_AND_SHARED = -1;

    /** Vert.x warns of a piece of a download that takes longer to make. */
    private static final long MAX_PIECE_SECONDS = 60;

    private final ListenerOptions options;
    private final RouteTable table;
    private final Measured unrouted;
    private final Guard guard;
    private final Access access;
    private final AllowedHosts hosts;
    private final Watch watch;
    private final HttpServerOptions serverOptions;
    private volatile int port;
    private Future<HttpServer> server = Future.failedFuture("not started");
    private @Nullable WorkerExecutor downloads;

    /**
     * @param tls null for none
     */
    ListenerLoop(
            ListenerOptions options,
            RouteTable table,
            Measured unrouted,
            Guard guard,
            Access access,
            @Nullable ServerSSLOptions tls) {
        this.options = options;
        this.guard = guard;
        this.table = table;
        this.unrouted = unrouted;
        this.access = access;
        this.hosts = AllowedHosts.of(options);
        this.watch = new Watch(options.limits(), guard);
        this.serverOptions = serverOptions(options.limits(), tls);
    }

    private static HttpServerOptions serverOptions(HttpLimits limits, @Nullable ServerSSLOptions tls) {
        HttpServerOptions options = new HttpServerOptions()
                .setMaxInitialLineLength(limits.maxUrlBytes())
                .setMaxHeaderSize(limits.maxHeaderBytes())
                .setHandle100ContinueAutomatically(true)
                .setHttp2ClearTextEnabled(false)
                // Nothing here is a web socket, and every request would pass through their handler.
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
     * Where downloads are made, one piece at a time, apart from other work that blocks, which they must not hold up. To be
     * called on the event loop. Vert.x closes it with the loop.
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

    Watch watch() {
        return watch;
    }

    @Override
    public Future<?> start() {
        int asked = options.port() == 0 ? FREE_AND_SHARED : options.port();
        vertx.setPeriodic(watch.period().toMillis(), id -> watch.look());
        server = vertx.createHttpServer(serverOptions)
                .connectionHandler(this::opened)
                .requestHandler(this::takeWhenItCanBeAnswered)
                .invalidRequestHandler(this::refuse)
                .listen(asked, options.host())
                .recover(cause -> Future.failedFuture(new CannotListenException(
                        "cannot listen on " + options.host() + ":" + options.port() + ": " + cause.getMessage(),
                        cause)));
        return server.onSuccess(bound -> port = bound.actualPort());
    }

    @Override
    public Future<?> stop() {
        return server.compose(
                bound -> bound.shutdown(options.limits().closeGrace().toMillis(), TimeUnit.MILLISECONDS),
                neverBound -> Future.succeededFuture());
    }

    /** Takes renewed certificates for connections to come. */
    Future<?> renew(ServerSSLOptions tls) {
        return server.compose(bound -> bound.updateSSLOptions(tls));
    }

    private void opened(HttpConnection connection) {
        RawConnection.readStrictly(connection, serverOptions);
        RawConnection.boundStreams(connection, options.limits().maxConnectionRequests());
        watch.opened(connection);
    }

    /**
     * A client that sends and does not read would have its answers pile up here. So the next one is made
     * when the last has gone; meanwhile the connection's deadline goes on.
     */
    private void takeWhenItCanBeAnswered(HttpServerRequest request) {
        HttpServerResponse response = request.response();
        if (!response.writeQueueFull()) {
            take(request);
            return;
        }
        request.pause();
        response.drainHandler(drained -> {
            response.drainHandler(null);
            request.resume();
            take(request);
        });
    }

    private void take(HttpServerRequest request) {
        if (guard.isDraining()) {
            unrouted(request)
                    .header("retry-after", "1")
                    .problem(Problem.of(ProblemType.DRAINING, "Another instance will answer."));
            request.connection().shutdown();
            return;
        }
        String uri = request.uri();
        if (uri != null && uri.length() > options.limits().maxUrlBytes()) {
            // On HTTP/1.1 the parser has refused it before.
            unrouted(request).problem(urlTooLong());
            return;
        }
        Problem refusal = hosts.refusal(request);
        if (refusal != null) {
            if (refusal.type().equals(ProblemType.BAD_REQUEST)) {
                refuse(request, refusal);
            } else {
                unrouted(request).problem(refusal);
            }
            return;
        }
        String path = UrlText.of(request.path());
        if (path == null) {
            unrouted(request)
                    .problem(Problem.of(
                            ProblemType.BAD_REQUEST,
                            "The path is neither ASCII nor UTF-8, or has control characters in it."));
            return;
        }
        switch (table.find(request.method().name(), path)) {
            case RouteTable.Found found -> {
                Exchange exchange = new Exchange(this, request, found.route(), found.parameter());
                exchange.guarded(() -> admit(request, found.route().route(), exchange));
            }
            case RouteTable.OtherMethods other -> {
                String allowed = String.join(", ", other.allowed());
                unrouted(request)
                        .header("Allow", allowed)
                        .problem(Problem.of(
                                ProblemType.METHOD_NOT_ALLOWED,
                                "The path takes " + allowed + ", not " + request.method() + "."));
            }
            case RouteTable.NoSuchPath none ->
                unrouted(request).problem(Problem.of(ProblemType.NO_SUCH_PATH, none.detail()));
        }
    }

    private void admit(HttpServerRequest request, Route route, Exchange exchange) {
        if (access.isOpen(route.scope())) {
            answer(request, route, exchange);
        } else {
            access.admit(exchange, route.scope(), () -> answer(request, route, exchange));
        }
    }

    private static void answer(HttpServerRequest request, Route route, Exchange exchange) {
        Problem problem = route.anyQuery() ? null : wrongQuery(request, route);
        if (problem != null) {
            exchange.problem(problem);
        } else {
            route.endpoint().answer(exchange);
        }
    }

    private static @Nullable Problem wrongQuery(HttpServerRequest request, Route route) {
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
        unknown.removeAll(route.queryNames());
        return unknown.isEmpty() ? null : unknownParameters(route, unknown);
    }

    private static Problem unknownParameters(Route route, Set<String> unknown) {
        String takes = route.queryNames().isEmpty()
                ? "takes none"
                : "takes " + String.join(", ", new TreeSet<>(route.queryNames()));
        return Problem.of(
                        ProblemType.UNKNOWN_PARAMETER,
                        "Unknown: " + String.join(", ", unknown) + "; " + route.path() + " " + takes + ".")
                .with("unknown", List.copyOf(unknown));
    }

    /** Answers what is not even a request; the connection cannot be read any further. */
    private void refuse(HttpServerRequest request) {
        refuse(request, broken(request.decoderResult().cause()));
    }

    /** Answers a request that no other should follow on its connection; on HTTP/2 others do not depend on it. */
    private void refuse(HttpServerRequest request, Problem problem) {
        if (request.version() == HttpVersion.HTTP_2) {
            unrouted(request).problem(problem);
        } else {
            unrouted(request).header("Connection", "close").problem(problem);
            request.connection().close();
        }
    }

    private Problem broken(Throwable cause) {
        if (cause instanceof TooLongHttpLineException) {
            return urlTooLong();
        }
        if (cause instanceof TooLongHttpHeaderException) {
            watch.count(Limit.HEADERS_TOO_LARGE);
            return Problem.of(
                    ProblemType.HEADERS_TOO_LARGE,
                    "The headers have more than " + options.limits().maxHeaderBytes() + " bytes.");
        }
        return Exchange.brokenFraming(cause, "The request's line or headers cannot be read.");
    }

    private Problem urlTooLong() {
        watch.count(Limit.URL_TOO_LONG);
        return Problem.of(
                ProblemType.URL_TOO_LONG,
                "The request line has more than " + options.limits().maxUrlBytes() + " bytes.");
    }

    private Exchange unrouted(HttpServerRequest request) {
        return new Exchange(this, request, unrouted, "");
    }
}

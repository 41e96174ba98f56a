package dev.puri.http;

import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP/1.1 server with its routes. Several may live in one JVM.
 *
 * <pre>
 * connection → bounds of line and headers → route → query names → endpoint → Exchange → answer
 *                     400 414 431         404 405        400         413 500
 * </pre>
 */
public final class Listener implements AutoCloseable {
    private static final long START_SECONDS = 30;

    private final Vertx vertx;
    private final ListenerOptions options;
    private final int port;

    private Listener(Vertx vertx, ListenerOptions options, int port) {
        this.vertx = vertx;
        this.options = options;
        this.port = port;
    }

    /**
     * Listens; returns once requests are answered.
     *
     * @throws CannotListenException when the address cannot be bound
     */
    public static Listener start(ListenerOptions options, List<Route> routes, Metrics metrics) {
        Vertx vertx = Vertx.vertx(new VertxOptions()
                .setEventLoopPoolSize(options.eventLoops())
                .setWorkerPoolSize(1)
                .setInternalBlockingPoolSize(1)
                .setFileSystemOptions(new FileSystemOptions()
                        .setClassPathResolvingEnabled(false)
                        .setFileCachingEnabled(false)));
        RouteTable table = new RouteTable(options.name(), routes, metrics);
        Measured unrouted = new Measured(options.name(), Route.get("/unrouted", Scope.NONE, exchange -> {}), metrics);
        List<Loop> loops = new ArrayList<>();
        for (int i = 0; i < options.eventLoops(); i++) {
            loops.add(new Loop(options, table, unrouted));
        }
        try {
            var undeployed = loops.iterator();
            await(vertx.deployVerticle(undeployed::next, new DeploymentOptions().setInstances(options.eventLoops())));
        } catch (CannotListenException e) {
            vertx.close();
            throw e;
        }
        return new Listener(vertx, options, loops.getFirst().port());
    }

    /** The port that is bound, also when any free one was asked for. */
    public int port() {
        return port;
    }

    /** Takes no more connections, lets requests under way end within the grace, and frees the port. */
    @Override
    public void close() {
        try {
            vertx.close()
                    .toCompletionStage()
                    .toCompletableFuture()
                    .get(options.limits().closeGrace().toSeconds() + START_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException("the listener on port " + port + " did not close", e);
        }
    }

    private static void await(Future<?> deployed) {
        try {
            deployed.toCompletionStage().toCompletableFuture().get(START_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CannotListenException("interrupted while binding", e);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof CannotListenException known
                    ? known
                    : new CannotListenException("cannot listen: " + e.getCause(), e);
        } catch (TimeoutException e) {
            throw new CannotListenException("not bound after " + START_SECONDS + " s", e);
        }
    }

    /** One event loop's share of the server; all of them share the port. */
    private static final class Loop extends VerticleBase {
        /** To Vert.x: any free port, but the same one for all that ask so. */
        private static final int FREE_AND_SHARED = -1;

        private final ListenerOptions options;
        private final RouteTable table;
        private final Measured unrouted;
        private volatile int port;
        private Future<HttpServer> server = Future.failedFuture("not started");

        Loop(ListenerOptions options, RouteTable table, Measured unrouted) {
            this.options = options;
            this.table = table;
            this.unrouted = unrouted;
        }

        int port() {
            return port;
        }

        @Override
        public Future<?> start() {
            int asked = options.port() == 0 ? FREE_AND_SHARED : options.port();
            server = vertx.createHttpServer(new HttpServerOptions()
                            .setMaxInitialLineLength(options.limits().maxUrlBytes())
                            .setMaxHeaderSize(options.limits().maxHeaderBytes())
                            .setIdleTimeout((int) options.limits().idleTimeout().toMillis())
                            .setIdleTimeoutUnit(TimeUnit.MILLISECONDS)
                            .setHandle100ContinueAutomatically(true)
                            .setHttp2ClearTextEnabled(false))
                    .requestHandler(this::route)
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

        private void route(HttpServerRequest request) {
            String path = UrlText.of(request.path());
            if (path == null) {
                unrouted(request).problem(Problem.of(ProblemType.BAD_REQUEST, "The path is neither ASCII nor UTF-8."));
                return;
            }
            switch (table.find(request.method().name(), path)) {
                case RouteTable.Found found -> {
                    Exchange exchange =
                            new Exchange(vertx, context, options, request, found.route(), found.parameter());
                    exchange.guarded(() -> answer(request, found.route().route(), exchange));
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
            Problem problem = broken(request.decoderResult().cause());
            unrouted(request).header("Connection", "close").problem(problem);
            request.connection().close();
        }

        private Problem broken(Throwable cause) {
            if (cause instanceof TooLongHttpLineException) {
                return Problem.of(
                        ProblemType.URL_TOO_LONG,
                        "The request line has more than " + options.limits().maxUrlBytes() + " bytes.");
            }
            if (cause instanceof TooLongHttpHeaderException) {
                return Problem.of(
                        ProblemType.HEADERS_TOO_LARGE,
                        "The headers have more than " + options.limits().maxHeaderBytes() + " bytes.");
            }
            return Problem.of(ProblemType.BAD_REQUEST, "The request's line or headers cannot be read.");
        }

        private Exchange unrouted(HttpServerRequest request) {
            return new Exchange(vertx, context, options, request, unrouted, "");
        }
    }
}

package dev.puri.http;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.net.ServerSSLOptions;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An HTTP/1.1 server; with TLS also an HTTP/2 server. A JVM may have several listeners. Each stage may refuse a
 * request:
 *
 * <pre>
 * connection → limits of line and headers → host → route → scope → query names → endpoint → Exchange → response
 *                  400 408 414 431          421   404 405  401 403      400                 408 413 500 503
 * </pre>
 */
public final class Listener implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Listener.class);
    /** The maximum time to start, and to close in addition to the grace period. */
    private static final long TIMEOUT_SECONDS = 30;

    /** The period at which the files of certificates and tokens are read again. */
    private static final Duration FILE_CHECK_PERIOD = Duration.ofSeconds(10);

    private final Vertx vertx;
    private final ListenerOptions options;
    private final ListenerState state;
    private final int port;
    private final long fileCheckTimer;

    private Listener(Vertx vertx, ListenerOptions options, ListenerState state, int port, long fileCheckTimer) {
        this.vertx = vertx;
        this.options = options;
        this.state = state;
        this.port = port;
        this.fileCheckTimer = fileCheckTimer;
    }

    /**
     * Starts a listener. The listener serves requests when this method returns.
     *
     * @throws CannotListenException if the address cannot be bound, or if the certificate, the key or the file of
     *     tokens is unusable
     */
    public static Listener start(ListenerOptions options, List<Route> routes, Metrics metrics) {
        return start(options, routes, metrics, FILE_CHECK_PERIOD);
    }

    static Listener start(ListenerOptions options, List<Route> routes, Metrics metrics, Duration fileCheckPeriod) {
        return start(options, routes, metrics, fileCheckPeriod, JwtVerifier.KeyCacheTimes.DEFAULT);
    }

    static Listener start(
            ListenerOptions options,
            List<Route> routes,
            Metrics metrics,
            Duration fileCheckPeriod,
            JwtVerifier.KeyCacheTimes keyTimes) {
        Vertx vertx = Vertx.vertx(new VertxOptions()
                .setEventLoopPoolSize(options.eventLoops())
                .setWorkerPoolSize(1)
                .setInternalBlockingPoolSize(1)
                .setFileSystemOptions(new FileSystemOptions()
                        .setClassPathResolvingEnabled(false)
                        .setFileCachingEnabled(false)));
        try {
            RouteTable table = new RouteTable(options.name(), routes, metrics);
            MeasuredRoute placeholderRoute =
                    new MeasuredRoute(options.name(), Route.get("/unrouted", Scope.NONE, exchange -> {}), metrics);
            ListenerState state = new ListenerState(options, metrics);
            RequestAuthorizer authorizer =
                    new RequestAuthorizer(options, vertx, metrics, InstantSource.system(), keyTimes);
            TlsFiles tlsFiles =
                    TlsFiles.of(options.http().tls(), options.limits().headerTimeout());
            ServerSSLOptions certificates = tlsFiles == null ? null : readCertificates(tlsFiles, vertx);
            List<ListenerLoop> loops = new ArrayList<>();
            for (int i = 0; i < options.eventLoops(); i++) {
                loops.add(new ListenerLoop(options, table, placeholderRoute, state, authorizer, certificates));
            }
            var loopsToStart = loops.iterator();
            awaitStart(vertx.deployVerticle(
                    loopsToStart::next, new DeploymentOptions().setInstances(options.eventLoops())));
            CertificateRenewal renewal = tlsFiles == null || certificates == null
                    ? null
                    : new CertificateRenewal(tlsFiles, loops.getFirst(), certificates);
            long fileCheckTimer = vertx.setPeriodic(fileCheckPeriod.toMillis(), id -> {
                authorizer.reloadTokens(vertx);
                if (renewal != null) {
                    renewal.check(vertx);
                }
            });
            return new Listener(vertx, options, state, loops.getFirst().port(), fileCheckTimer);
        } catch (RuntimeException e) {
            vertx.close();
            throw e;
        }
    }

    private static ServerSSLOptions readCertificates(TlsFiles tlsFiles, Vertx vertx) {
        try {
            return tlsFiles.read(vertx);
        } catch (UnusableFileException e) {
            throw new CannotListenException(String.valueOf(e.getMessage()), e);
        }
    }

    /** Returns the bound port, also if the options have port 0. */
    public int port() {
        return port;
    }

    /**
     * From now on refuses new requests with the problem {@code draining}, and closes their connections. Requests in
     * progress continue. The caller should {@link #close} the listener soon.
     */
    public void drain() {
        state.drain();
    }

    /** Stops accepting connections, waits for requests in progress within the grace period, and releases the port. */
    @Override
    public void close() {
        vertx.cancelTimer(fileCheckTimer);
        try {
            vertx.close()
                    .toCompletionStage()
                    .toCompletableFuture()
                    .get(options.limits().closeGrace().toSeconds() + TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException("the listener on port " + port + " did not close", e);
        }
    }

    private static void awaitStart(Future<?> started) {
        try {
            started.toCompletionStage().toCompletableFuture().get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CannotListenException("interrupted during the start", e);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof CannotListenException cause
                    ? cause
                    : new CannotListenException("cannot listen: " + e.getCause(), e);
        } catch (TimeoutException e) {
            throw new CannotListenException("the listener did not start within " + TIMEOUT_SECONDS + " s", e);
        }
    }

    /** Applies renewed certificates without a restart; open connections stay open. */
    private static final class CertificateRenewal {
        private final TlsFiles tlsFiles;
        private final ListenerLoop anyLoop;
        private ServerSSLOptions inUse;
        private @Nullable String lastError;
        private boolean isChecking;

        CertificateRenewal(TlsFiles tlsFiles, ListenerLoop anyLoop, ServerSSLOptions inUse) {
            this.tlsFiles = tlsFiles;
            this.anyLoop = anyLoop;
            this.inUse = inUse;
        }

        void check(Vertx vertx) {
            if (isChecking) {
                return;
            }
            isChecking = true;
            vertx.<ServerSSLOptions>executeBlocking(() -> tlsFiles.read(vertx))
                    .compose(renewed -> renewed.equals(inUse)
                            ? Future.succeededFuture()
                            // All loops share one server, so an update of one loop updates all.
                            : anyLoop.renewCertificates(renewed).onSuccess(done -> {
                                inUse = renewed;
                                log.info("Renewed certificates are in use");
                            }))
                    .onComplete(done -> isChecking = false)
                    .onSuccess(done -> lastError = null)
                    .onFailure(this::keepOld);
        }

        private void keepOld(Throwable failure) {
            String error = String.valueOf(failure.getMessage());
            if (!error.equals(lastError)) {
                log.error("Renewed certificates are unusable; the previous certificates stay in use: {}", error);
                lastError = error;
            }
        }
    }
}

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
 * An HTTP/1.1 server, with TLS also an HTTP/2 server. A JVM may have several.
 *
 * <pre>
 * connection → bounds of line and headers → route → scope → query names → endpoint → Exchange → answer
 *                  400 408 414 431         404 405  401 403      400                   408 413 500
 * </pre>
 */
public final class Listener implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Listener.class);
    private static final long START_SECONDS = 30;

    /** How often the files of certificates and tokens are read again. */
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
     * Starts a listener; requests are served when this returns.
     *
     * @throws CannotListenException if the address cannot be bound, or certificate and key are unusable
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
            MeasuredRoute unrouted =
                    new MeasuredRoute(options.name(), Route.get("/unrouted", Scope.NONE, exchange -> {}), metrics);
            ListenerState state = new ListenerState(options, metrics);
            Access access = new Access(options, vertx, metrics, InstantSource.system(), keyTimes);
            Tls tls = Tls.of(options.http().tls(), options.limits().headerTimeout());
            ServerSSLOptions certificates = tls == null ? null : read(tls, vertx);
            List<ListenerLoop> loops = new ArrayList<>();
            for (int i = 0; i < options.eventLoops(); i++) {
                loops.add(new ListenerLoop(options, table, unrouted, state, access, certificates));
            }
            var undeployed = loops.iterator();
            await(vertx.deployVerticle(undeployed::next, new DeploymentOptions().setInstances(options.eventLoops())));
            CertificateRenewal renewal = tls == null || certificates == null
                    ? null
                    : new CertificateRenewal(tls, loops.getFirst(), certificates);
            long fileCheckTimer = vertx.setPeriodic(fileCheckPeriod.toMillis(), id -> {
                access.reloadTokens(vertx);
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

    private static ServerSSLOptions read(Tls tls, Vertx vertx) {
        try {
            return tls.read(vertx);
        } catch (UnusableFileException e) {
            throw new CannotListenException(String.valueOf(e.getMessage()), e);
        }
    }

    /** The bound port, also if the options have port 0. */
    public int port() {
        return port;
    }

    /**
     * Makes new requests fail with the problem {@code draining}, and closes their connections. Requests under way
     * continue. {@link #close} should follow soon.
     */
    public void drain() {
        state.drain();
    }

    /** Stops accepting connections, waits for requests under way within the grace period, and releases the port. */
    @Override
    public void close() {
        vertx.cancelTimer(fileCheckTimer);
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

    /** Applies renewed certificates without a restart; open connections stay open. */
    private static final class CertificateRenewal {
        private final Tls tls;
        private final ListenerLoop anyLoop;
        private ServerSSLOptions inUse;
        private @Nullable String lastMistake;
        private boolean isChecking;

        CertificateRenewal(Tls tls, ListenerLoop anyLoop, ServerSSLOptions inUse) {
            this.tls = tls;
            this.anyLoop = anyLoop;
            this.inUse = inUse;
        }

        void check(Vertx vertx) {
            if (isChecking) {
                return;
            }
            isChecking = true;
            vertx.<ServerSSLOptions>executeBlocking(() -> tls.read(vertx))
                    .compose(read -> read.equals(inUse)
                            ? Future.succeededFuture()
                            // All loops share one server, so updating one updates all.
                            : anyLoop.renew(read).onSuccess(done -> {
                                inUse = read;
                                log.info("Renewed certificates are in use");
                            }))
                    .onComplete(done -> isChecking = false)
                    .onSuccess(done -> lastMistake = null)
                    .onFailure(this::keepOld);
        }

        private void keepOld(Throwable failure) {
            String mistake = String.valueOf(failure.getMessage());
            if (!mistake.equals(lastMistake)) {
                log.error("Renewed certificates are unusable; the previous ones stay in use: {}", mistake);
                lastMistake = mistake;
            }
        }
    }
}

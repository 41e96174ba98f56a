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
 * An HTTP/1.1 server with its routes; over TLS, an HTTP/2 server too. Several may live in one JVM.
 *
 * <pre>
 * connection → bounds of line and headers → route → scope → query names → endpoint → Exchange → answer
 *                  400 408 414 431         404 405  401 403      400                   408 413 500
 * </pre>
 */
public final class Listener implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Listener.class);
    private static final long START_SECONDS = 30;

    /** How often the files of certificates and tokens are looked at. */
    private static final Duration LOOK_AT_FILES = Duration.ofSeconds(10);

    private final Vertx vertx;
    private final ListenerOptions options;
    private final Guard guard;
    private final int port;
    private final long looking;

    private Listener(Vertx vertx, ListenerOptions options, Guard guard, int port, long looking) {
        this.vertx = vertx;
        this.options = options;
        this.guard = guard;
        this.port = port;
        this.looking = looking;
    }

    /**
     * Listens; returns once requests are answered.
     *
     * @throws CannotListenException when the address cannot be bound, or certificate and key make no server
     */
    public static Listener start(ListenerOptions options, List<Route> routes, Metrics metrics) {
        return start(options, routes, metrics, LOOK_AT_FILES);
    }

    static Listener start(ListenerOptions options, List<Route> routes, Metrics metrics, Duration lookAtFiles) {
        return start(options, routes, metrics, lookAtFiles, JwtVerifier.KeyTimes.DEFAULT);
    }

    static Listener start(
            ListenerOptions options,
            List<Route> routes,
            Metrics metrics,
            Duration lookAtFiles,
            JwtVerifier.KeyTimes keyTimes) {
        Vertx vertx = Vertx.vertx(new VertxOptions()
                .setEventLoopPoolSize(options.eventLoops())
                .setWorkerPoolSize(1)
                .setInternalBlockingPoolSize(1)
                .setFileSystemOptions(new FileSystemOptions()
                        .setClassPathResolvingEnabled(false)
                        .setFileCachingEnabled(false)));
        try {
            RouteTable table = new RouteTable(options.name(), routes, metrics);
            Measured unrouted =
                    new Measured(options.name(), Route.get("/unrouted", Scope.NONE, exchange -> {}), metrics);
            Guard guard = new Guard(options, metrics);
            Access access = new Access(options, vertx, metrics, InstantSource.system(), keyTimes);
            Tls tls = Tls.of(options.http().tls(), options.limits().headerTimeout());
            ServerSSLOptions certificates = tls == null ? null : read(tls, vertx);
            List<ListenerLoop> loops = new ArrayList<>();
            for (int i = 0; i < options.eventLoops(); i++) {
                loops.add(new ListenerLoop(options, table, unrouted, guard, access, certificates));
            }
            var undeployed = loops.iterator();
            await(vertx.deployVerticle(undeployed::next, new DeploymentOptions().setInstances(options.eventLoops())));
            Renewal renewal =
                    tls == null || certificates == null ? null : new Renewal(tls, loops.getFirst(), certificates);
            long looking = vertx.setPeriodic(lookAtFiles.toMillis(), id -> {
                access.lookAtTokens(vertx);
                if (renewal != null) {
                    renewal.look(vertx);
                }
            });
            return new Listener(vertx, options, guard, loops.getFirst().port(), looking);
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

    /** The port that is bound, also when any free one was asked for. */
    public int port() {
        return port;
    }

    /**
     * From now on, answers every request with the problem {@code draining} and then closes its
     * connection; those under way go on. A {@link #close} should follow soon.
     */
    public void drain() {
        guard.drain();
    }

    /** Takes no more connections, lets requests under way end within the grace, and frees the port. */
    @Override
    public void close() {
        vertx.cancelTimer(looking);
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

    /** Takes certificates that were renewed, without a restart; those who are connected stay so. */
    private static final class Renewal {
        private final Tls tls;
        private final ListenerLoop anyLoop;
        private ServerSSLOptions inUse;
        private @Nullable String lastMistake;
        private boolean isLooking;

        Renewal(Tls tls, ListenerLoop anyLoop, ServerSSLOptions inUse) {
            this.tls = tls;
            this.anyLoop = anyLoop;
            this.inUse = inUse;
        }

        void look(Vertx vertx) {
            if (isLooking) {
                return;
            }
            isLooking = true;
            vertx.<ServerSSLOptions>executeBlocking(() -> tls.read(vertx))
                    .compose(read -> read.equals(inUse)
                            ? Future.succeededFuture()
                            // The loops share one server beneath.
                            : anyLoop.renew(read).onSuccess(taken -> {
                                inUse = read;
                                log.info("Renewed certificates are in use");
                            }))
                    .onComplete(looked -> isLooking = false)
                    .onSuccess(looked -> lastMistake = null)
                    .onFailure(this::keepOld);
        }

        private void keepOld(Throwable failure) {
            String mistake = String.valueOf(failure.getMessage());
            if (!mistake.equals(lastMistake)) {
                log.error("Renewed certificates are not taken, the ones before stay: {}", mistake);
                lastMistake = mistake;
            }
        }
    }
}

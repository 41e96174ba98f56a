package dev.puri.benchmarks.serve;

import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * A Vert.x server as a user would write it: one event loop per core, each with its own connections to the store.
 */
abstract class Baseline extends VerticleBase {
    /** With this port, Vert.x chooses a free port, and all event loops share it. */
    private static final int SHARED_FREE_PORT = -1;

    private volatile int port;

    /** Connects to the store, if there is one. */
    Future<?> connect() {
        return Future.succeededFuture();
    }

    /** Answers a request. */
    abstract void answer(HttpServerRequest request);

    @Override
    public final Future<?> start() {
        return connect()
                .compose(connected ->
                        vertx.createHttpServer().requestHandler(this::answer).listen(SHARED_FREE_PORT, "127.0.0.1"))
                .map(HttpServer::actualPort)
                .onSuccess(bound -> port = bound);
    }

    /** Starts an instance for each core, and returns the port that all instances share. */
    static int start(Supplier<Baseline> constructor) {
        int loops = Runtime.getRuntime().availableProcessors();
        Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(loops));
        List<Baseline> instances = new ArrayList<>();
        for (int i = 0; i < loops; i++) {
            instances.add(constructor.get());
        }
        var next = instances.iterator();
        vertx.deployVerticle(next::next, new DeploymentOptions().setInstances(loops))
                .await();
        return instances.getFirst().port;
    }
}

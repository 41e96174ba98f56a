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
 * A Vert.x server as a user would write it: one event loop for each core, with connections of its own to the store.
 */
abstract class Baseline extends VerticleBase {
    /** Means to Vert.x any free port, the same one for all event loops. */
    private static final int FREE_AND_SHARED = -1;

    private volatile int port;

    /** Connects to the store. */
    Future<?> connect() {
        return Future.succeededFuture();
    }

    abstract void answer(HttpServerRequest request);

    @Override
    public final Future<?> start() {
        return connect()
                .compose(connected ->
                        vertx.createHttpServer().requestHandler(this::answer).listen(FREE_AND_SHARED, "127.0.0.1"))
                .map(HttpServer::actualPort)
                .onSuccess(bound -> port = bound);
    }

    /** Starts one on each core, and returns the port that they share. */
    static int start(Supplier<Baseline> each) {
        int loops = Runtime.getRuntime().availableProcessors();
        Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(loops));
        List<Baseline> all = new ArrayList<>();
        for (int i = 0; i < loops; i++) {
            all.add(each.get());
        }
        var next = all.iterator();
        vertx.deployVerticle(next::next, new DeploymentOptions().setInstances(loops))
                .await();
        return all.getFirst().port;
    }
}

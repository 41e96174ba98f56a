package dev.puri.benchmarks.serve;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import org.jspecify.annotations.Nullable;

/**
 * A handler over Redis, which has the JSON of each identity under the pURI and under the handle. It sends one MGET for
 * a batch, over the pipelined connection of its event loop. It copies the stored bytes into the answer without parsing
 * them.
 */
final class RedisHandler extends IdentityHandler {
    /** More than the number of clients, so that Vert.x refuses no request. */
    private static final int MAX_PENDING_REQUESTS = 4096;

    private final int port;
    private @Nullable RedisConnection redis;

    RedisHandler(int port) {
        this.port = port;
    }

    @Override
    Future<?> connect() {
        RedisOptions options = new RedisOptions()
                .setConnectionString("redis://127.0.0.1:" + port)
                .setMaxWaitingHandlers(MAX_PENDING_REQUESTS);
        return Redis.createClient(vertx, options).connect().onSuccess(connected -> redis = connected);
    }

    @Override
    Future<Buffer> resolve(JsonArray refs) {
        if (redis == null) {
            return Future.failedFuture("not connected");
        }
        Request get = Request.cmd(Command.MGET);
        for (int i = 0; i < refs.size(); i++) {
            get.arg(key(refs.getString(i)));
        }
        return redis.send(get).map(values -> json(refs, values));
    }

    private static Buffer json(JsonArray refs, @Nullable Response values) {
        if (values == null) {
            throw new IllegalStateException("MGET returned no values");
        }
        Buffer answer = begin();
        for (int i = 0; i < refs.size(); i++) {
            String ref = refs.getString(i);
            Response value = values.get(i);
            if (value == null) {
                writeUnknown(answer, ref);
            } else {
                // The stored object without its first brace, because the result has begun.
                Buffer row = value.toBuffer();
                beginFound(answer, ref).appendBuffer(row, 1, row.length() - 1);
            }
        }
        return end(answer);
    }
}

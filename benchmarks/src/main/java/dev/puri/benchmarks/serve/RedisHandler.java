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
 * Over Redis, which has each identity's JSON under its pURI and under its handle: one MGET for a batch, over one
 * pipelined connection for each event loop. The answer contains the stored bytes unparsed.
 */
final class RedisHandler extends Identities {
    /** More than there are clients, so that Vert.x refuses none. */
    private static final int MOST_UNDER_WAY = 4096;

    private final int port;
    private @Nullable RedisConnection redis;

    RedisHandler(int port) {
        this.port = port;
    }

    @Override
    Future<?> connect() {
        RedisOptions options = new RedisOptions()
                .setConnectionString("redis://127.0.0.1:" + port)
                .setMaxWaitingHandlers(MOST_UNDER_WAY);
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
            throw new IllegalStateException("MGET answered nothing");
        }
        Buffer answer = begin();
        for (int i = 0; i < refs.size(); i++) {
            String ref = refs.getString(i);
            Response value = values.get(i);
            if (value == null) {
                unknown(answer, ref);
            } else {
                // The stored object without its first brace.
                Buffer row = value.toBuffer();
                found(answer, ref).appendBuffer(row, 1, row.length() - 1);
            }
        }
        return end(answer);
    }
}

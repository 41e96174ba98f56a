package dev.puri.benchmarks.serve;

import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.pgclient.PgBuilder;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.sqlclient.PoolOptions;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A handler over PostgreSQL, which has an index by pURI and an index by handle. It sends one prepared statement for a
 * batch, through a pipelining connection pool of its event loop.
 */
final class PostgresHandler extends IdentityHandler {
    private static final String COLUMNS =
            "SELECT puri, handle, owner, shard, uuid, status, epoch, created_at, changed_at FROM identities ";
    private static final String QUERY =
            COLUMNS + "WHERE puri = ANY($1) UNION ALL " + COLUMNS + "WHERE handle = ANY($2)";

    /** Connections of an event loop; more connections were no faster on two cores. */
    private static final int CONNECTIONS = 2;

    private static final DateTimeFormatter MILLIS = DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'");

    private final int port;
    private @Nullable SqlClient postgres;

    PostgresHandler(int port) {
        this.port = port;
    }

    @Override
    Future<?> connect() {
        postgres = PgBuilder.client()
                .connectingTo(new PgConnectOptions()
                        .setHost("127.0.0.1")
                        .setPort(port)
                        .setUser("postgres")
                        .setDatabase("postgres")
                        .setCachePreparedStatements(true))
                .with(new PoolOptions().setMaxSize(CONNECTIONS))
                .using(vertx)
                .build();
        return postgres.query("SELECT 1").execute();
    }

    @Override
    Future<Buffer> resolve(JsonArray refs) {
        if (postgres == null) {
            return Future.failedFuture("not connected");
        }
        List<String> puris = new ArrayList<>();
        List<String> handles = new ArrayList<>();
        for (int i = 0; i < refs.size(); i++) {
            String key = key(refs.getString(i));
            (isHandle(key) ? handles : puris).add(key);
        }
        return postgres.preparedQuery(QUERY)
                .execute(Tuple.tuple()
                        .addArrayOfString(puris.toArray(new String[0]))
                        .addArrayOfString(handles.toArray(new String[0])))
                .map(rows -> json(refs, rows));
    }

    private static Buffer json(JsonArray refs, RowSet<Row> rows) {
        Map<String, Row> byKey = new HashMap<>();
        for (Row row : rows) {
            byKey.put(row.getString(0), row);
            byKey.put(row.getString(1), row);
        }
        JsonArray results = new JsonArray();
        for (int i = 0; i < refs.size(); i++) {
            String ref = refs.getString(i);
            Row row = byKey.get(key(ref));
            JsonObject result = new JsonObject().put("ref", ref);
            if (row != null) {
                putFields(result, row);
            } else {
                result.put("verdict", "unknown");
                if (!isHandle(ref)) {
                    result.put("puri", key(ref));
                }
            }
            results.add(result);
        }
        return new JsonObject().put("results", results).toBuffer();
    }

    private static void putFields(JsonObject result, Row row) {
        result.put("verdict", "found")
                .put("puri", row.getString(0))
                .put("handle", row.getString(1))
                .put("owner", row.getString(2))
                .put("shard", row.getString(3))
                .put("uuid", row.getUUID(4).toString())
                .put("status", row.getString(5))
                .put("epoch", row.getLong(6))
                .put("createdAt", text(row.getOffsetDateTime(7)))
                .put("changedAt", text(row.getOffsetDateTime(8)));
    }

    private static String text(OffsetDateTime time) {
        return MILLIS.format(time.withOffsetSameInstant(ZoneOffset.UTC));
    }
}

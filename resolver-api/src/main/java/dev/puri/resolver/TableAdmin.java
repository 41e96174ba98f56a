package dev.puri.resolver;

import dev.puri.http.Exchange;
import dev.puri.http.JsonBody;
import dev.puri.http.Problem;
import dev.puri.http.ProblemType;
import dev.puri.resolver.feed.TableKeeper;
import dev.puri.resolver.feed.TableStatus;
import dev.puri.resolver.table.Table;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Handles the requests of operators about the table: its digests, and its rebuild. */
final class TableAdmin {
    static final ProblemType CANNOT_REBUILD = new ProblemType("cannot-rebuild", "The table cannot be rebuilt now", 409);

    private final Supplier<@Nullable Table> tables;
    private final Supplier<@Nullable Map<String, Object>> digests;
    private final Supplier<@Nullable String> requestRebuild;
    private final Supplier<Map<String, Object>> rebuildStatus;

    /**
     * @param tables supplies the serving table; null before the first table is complete
     * @param digests supplies the digests of the serving table; null if there is none
     * @param requestRebuild requests a rebuild, and supplies why there will be none; null if there will be one
     * @param rebuildStatus supplies the progress of the rebuild
     */
    TableAdmin(
            Supplier<@Nullable Table> tables,
            Supplier<@Nullable Map<String, Object>> digests,
            Supplier<@Nullable String> requestRebuild,
            Supplier<Map<String, Object>> rebuildStatus) {
        this.tables = tables;
        this.digests = digests;
        this.requestRebuild = requestRebuild;
        this.rebuildStatus = rebuildStatus;
    }

    static TableAdmin of(TableKeeper<?> keeper) {
        TableStatus status = keeper.status();
        return new TableAdmin(keeper::table, status::digests, keeper::requestRebuild, status::rebuildStatus);
    }

    void answerDigest(Exchange exchange) {
        if (tables.get() == null) {
            Problems.temporary(exchange, LookUps.NOT_READY, "The first table is not complete yet.");
            return;
        }
        // On a worker thread, since a digest of a busy table takes some time.
        exchange.jsonFromWorker(200, json -> JsonBody.writeValue(json, Objects.requireNonNull(digests.get())));
    }

    void beginRebuild(Exchange exchange) {
        String refusal = requestRebuild.get();
        if (refusal != null) {
            exchange.problem(Problem.of(CANNOT_REBUILD, refusal + "."));
            return;
        }
        answerRebuildStatus(exchange, 202);
    }

    void answerRebuildStatus(Exchange exchange) {
        answerRebuildStatus(exchange, 200);
    }

    private void answerRebuildStatus(Exchange exchange, int status) {
        Map<String, Object> current = rebuildStatus.get();
        exchange.json(status, json -> JsonBody.writeValue(json, current));
    }
}

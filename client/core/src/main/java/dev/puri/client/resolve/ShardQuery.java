package dev.puri.client.resolve;

import dev.puri.schemas.identity.Shard;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;

/**
 * Reads rows from a shard. A service implements this for its database.
 *
 * @param <R> type of a row
 */
@FunctionalInterface
public interface ShardQuery<R> {
    /**
     * Reads rows of one collection from a shard. The stage is cancelled if it takes too long.
     *
     * @param located the rows to read, without repetitions
     * @return the rows that exist, by primary key. The stage must be done only when the query has ended, also after a
     *     cancellation, because {@link Scatter} then starts the next query. A stage of {@link
     *     java.util.concurrent.CompletableFuture#supplyAsync} is done as soon as it is cancelled, so use {@link
     *     #blocking} instead
     */
    CompletionStage<Map<UUID, R>> rows(Shard shard, List<Located> located);

    /**
     * Converts a blocking function, such as a JDBC query, to a query. If the function takes too long, its thread is
     * interrupted. If it has not begun before the time limit, it is not called.
     *
     * @param executor runs the function
     */
    static <R> ShardQuery<R> blocking(Executor executor, BiFunction<Shard, List<Located>, Map<UUID, R>> query) {
        return (shard, located) -> {
            BlockingQuery<Map<UUID, R>> blockingQuery = new BlockingQuery<>(() -> query.apply(shard, located));
            executor.execute(blockingQuery);
            return blockingQuery;
        };
    }
}

package dev.puri.client.resolve;

import dev.puri.schemas.identity.Shard;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;

/**
 * Reads rows from one shard.
 *
 * @param <R> a row
 */
@FunctionalInterface
public interface ShardQuery<R> {
    /**
     * Asks a shard, once for all of a list that it has.
     *
     * @param rows each once
     * @return what is there, by primary key
     */
    CompletionStage<Map<UUID, R>> rows(Shard shard, List<Located> rows);

    /**
     * The same by a function that blocks, such as a JDBC query.
     *
     * @param executor on whose threads it blocks
     */
    static <R> ShardQuery<R> blocking(Executor executor, BiFunction<Shard, List<Located>, Map<UUID, R>> query) {
        return (shard, rows) -> CompletableFuture.supplyAsync(() -> query.apply(shard, rows), executor);
    }
}

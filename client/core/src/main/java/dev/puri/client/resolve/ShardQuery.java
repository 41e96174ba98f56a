package dev.puri.client.resolve;

import dev.puri.schemas.identity.Shard;
import java.util.List;
import java.util.Map;
import java.util.UUID;
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
     * Reads rows of one collection from a shard.
     *
     * @param rows the rows to read, without repetitions
     * @return the rows that exist, by primary key; cancelled if it takes too long
     */
    CompletionStage<Map<UUID, R>> rows(Shard shard, List<Located> rows);

    /**
     * Makes a query of a function that blocks, such as a JDBC query. The function is interrupted if it takes too long, and not called
     * if it has not begun by then.
     *
     * @param executor runs the function
     */
    static <R> ShardQuery<R> blocking(Executor executor, BiFunction<Shard, List<Located>, Map<UUID, R>> query) {
        return (shard, rows) -> {
            BlockingQuery<Map<UUID, R>> asked = new BlockingQuery<>(() -> query.apply(shard, rows));
            executor.execute(asked);
            return asked;
        };
    }
}

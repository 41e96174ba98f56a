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
     * Asks a shard, once for all rows of a list that it has in one collection.
     *
     * @param rows each once, all of one collection
     * @return the rows that are there, by primary key; cancelled when it takes too long
     */
    CompletionStage<Map<UUID, R>> rows(Shard shard, List<Located> rows);

    /**
     * The same by a function that blocks, such as a JDBC query. It is interrupted when it takes too long, and not called at
     * all if it had not begun by then.
     *
     * @param executor on whose threads it blocks
     */
    static <R> ShardQuery<R> blocking(Executor executor, BiFunction<Shard, List<Located>, Map<UUID, R>> query) {
        return (shard, rows) -> {
            BlockingQuery<Map<UUID, R>> asked = new BlockingQuery<>(() -> query.apply(shard, rows));
            executor.execute(asked);
            return asked;
        };
    }
}

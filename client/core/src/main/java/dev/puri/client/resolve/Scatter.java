package dev.puri.client.resolve;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Reads the rows of a list of references: asks the resolver once for the whole list, sends one query for each
 * collection in each shard, and returns the results in the order of the references.
 *
 * <pre>{@code
 * refs ─▶ resolver ─▶ verdicts ─┬▶ br-1 music:tracks: [0, 4] ─▶ rows ─┬▶ [Row, NoRow, Failed, Unplaced, Row]
 *                               └▶ eu-1 music:tracks: [1, 2] ─▶ rows ─┘
 * }</pre>
 *
 * If a query fails, only the references of that query fail. A query that takes too long is cancelled. A cancelled query
 * that still runs counts towards {@code maxQueries}. Thread-safe.
 */
public final class Scatter {
    private final IdentityResolver resolver;
    private final int maxQueries;
    private final Duration queryTimeout;

    /**
     * @param maxQueries maximum number of concurrent queries for one list
     * @param queryTimeout time limit of one query
     * @throws IllegalArgumentException if {@code maxQueries} or {@code queryTimeout} is not positive
     */
    public Scatter(IdentityResolver resolver, int maxQueries, Duration queryTimeout) {
        if (maxQueries < 1 || queryTimeout.isNegative() || queryTimeout.isZero()) {
            throw new IllegalArgumentException(
                    "maxQueries and queryTimeout must be positive, not " + maxQueries + " and " + queryTimeout);
        }
        this.resolver = resolver;
        this.maxQueries = maxQueries;
        this.queryTimeout = queryTimeout;
    }

    /**
     * Reads the rows of a list. If several references lead to the same row, such as a merged identity and its survivor,
     * the row is read once.
     *
     * @return a result for each reference, in the order of the references. Fails with a {@link ResolverException} if
     *     the resolver returned no verdicts
     */
    public <R> CompletionStage<List<Gathered<R>>> gather(List<Ref> refs, ShardQuery<R> query) {
        return resolver.resolveAllAsync(refs, Duration.ZERO)
                .thenCompose(verdicts -> new GatherCall<R>(verdicts, query).run());
    }

    private static @Nullable Located located(Verdict verdict) {
        Placement placement = verdict.placement();
        Puri puri = verdict instanceof Verdict.Found found
                ? found.puri()
                : verdict instanceof Verdict.Merged merged ? merged.canonical() : null;
        return placement == null || puri == null ? null : new Located(puri, placement.owner(), placement.uuid());
    }

    /**
     * The table of a collection in a shard. Primary keys are unique within a table, but not among the tables of a
     * shard.
     */
    private record Table(Shard shard, String namespace, String collection) {
        static Table of(Placement placement, Located located) {
            return new Table(
                    placement.shard(),
                    located.puri().namespace(),
                    located.puri().collection());
        }
    }

    /** The queries for one list. */
    private final class GatherCall<R> {
        private final List<Verdict> verdicts;
        private final ShardQuery<R> query;
        private final Queue<Map.Entry<Table, Set<Located>>> tablesToQuery = new ConcurrentLinkedQueue<>();
        private final Map<Table, Map<UUID, R>> rows = new ConcurrentHashMap<>();
        private final Map<Table, Throwable> failures = new ConcurrentHashMap<>();

        GatherCall(List<Verdict> verdicts, ShardQuery<R> query) {
            this.verdicts = verdicts;
            this.query = query;
            Map<Table, Set<Located>> byTable = new LinkedHashMap<>();
            for (Verdict verdict : verdicts) {
                Located located = located(verdict);
                Placement placement = verdict.placement();
                if (located != null && placement != null) {
                    byTable.computeIfAbsent(Table.of(placement, located), table -> new LinkedHashSet<>())
                            .add(located);
                }
            }
            tablesToQuery.addAll(byTable.entrySet());
        }

        CompletionStage<List<Gathered<R>>> run() {
            List<CompletableFuture<Boolean>> queryChains = new ArrayList<>();
            for (int i = Math.min(maxQueries, tablesToQuery.size()); i > 0; i--) {
                queryChains.add(runNextQueries());
            }
            return CompletableFuture.allOf(queryChains.toArray(CompletableFuture[]::new))
                    .thenApply(done -> verdicts.stream().map(this::gathered).toList());
        }

        /**
         * Queries one table after the other. Stops if no table is left, or if a query still runs after it was
         * cancelled.
         */
        private CompletableFuture<Boolean> runNextQueries() {
            for (var next = tablesToQuery.poll(); next != null; next = tablesToQuery.poll()) {
                CompletableFuture<Boolean> mayStartNext = query(next.getKey(), List.copyOf(next.getValue()));
                // If the query is already done, the loop queries the next table. A call of runNextQueries() would nest
                // once for each table.
                if (!mayStartNext.isDone()) {
                    return mayStartNext.thenCompose(mayStart -> mayStart ? runNextQueries() : mayStartNext);
                }
            }
            return CompletableFuture.completedFuture(true);
        }

        /**
         * Queries a table. The result completes with true when the next query may start. It completes with false if
         * this query still runs and tables are left, so that no further query may start in its place.
         */
        private CompletableFuture<Boolean> query(Table table, List<Located> locatedRows) {
            CompletableFuture<Map<UUID, R>> answer = new CompletableFuture<>();
            CompletableFuture<Boolean> queryEnded = new CompletableFuture<>();
            Runnable cancelQuery = () -> {};
            try {
                CompletionStage<Map<UUID, R>> stage = query.rows(table.shard(), locatedRows);
                cancelQuery = () -> cancel(stage);
                var unused = stage.whenComplete((found, error) -> {
                    queryEnded.complete(true);
                    if (error == null) {
                        answer.complete(found);
                    } else {
                        answer.completeExceptionally(error);
                    }
                });
            } catch (RuntimeException e) {
                queryEnded.complete(true);
                answer.completeExceptionally(e);
            }
            Runnable finalCancelQuery = cancelQuery;
            return answer.orTimeout(queryTimeout.toNanos(), TimeUnit.NANOSECONDS)
                    .handle((found, error) -> {
                        if (error == null) {
                            rows.put(table, Objects.requireNonNullElse(found, Map.of()));
                        } else {
                            failures.put(table, cause(error));
                            finalCancelQuery.run();
                        }
                        // If no table waits for its turn, the list need not wait until a cancelled query ends.
                        CompletableFuture<Boolean> mayStartNext = tablesToQuery.isEmpty()
                                ? CompletableFuture.completedFuture(true)
                                : queryEnded.completeOnTimeout(false, queryTimeout.toNanos(), TimeUnit.NANOSECONDS);
                        return mayStartNext;
                    })
                    .thenCompose(mayStartNext -> mayStartNext);
        }

        private void cancel(CompletionStage<?> stage) {
            try {
                stage.toCompletableFuture().cancel(true);
            } catch (UnsupportedOperationException e) {
                // A stage that cannot be cancelled counts towards maxQueries until it ends.
            }
        }

        private Throwable cause(Throwable error) {
            Throwable cause = Requests.unwrapped(error);
            return cause instanceof TimeoutException && cause.getMessage() == null
                    ? new TimeoutException("the shard did not respond within " + queryTimeout.toMillis() + " ms")
                    : cause;
        }

        private Gathered<R> gathered(Verdict verdict) {
            Located located = located(verdict);
            Placement placement = verdict.placement();
            if (located == null || placement == null) {
                return new Gathered.Unplaced<>(verdict);
            }
            Table table = Table.of(placement, located);
            Throwable failure = failures.get(table);
            if (failure != null) {
                return new Gathered.Failed<>(verdict, failure);
            }
            Map<UUID, R> found = rows.get(table);
            if (found == null) {
                return new Gathered.Failed<>(
                        verdict,
                        new TimeoutException(
                                "not queried: " + maxQueries
                                        + " queries exceeded their time limit and still run, and no more may run (maxQueries)"));
            }
            R row = found.get(located.uuid());
            return row == null ? new Gathered.NoRow<>(verdict) : new Gathered.Row<>(verdict, row);
        }
    }
}

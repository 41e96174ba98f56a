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
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Reads the rows of a mixed list: one look-up for the whole list, one query for each collection of each shard, one list in the
 * order asked.
 *
 * <pre>{@code
 * refs ─▶ resolver ─▶ verdicts ─┬▶ br-1 music:tracks: [0, 4] ─▶ rows ─┬▶ [Row, NoRow, Failed, Unplaced, Row]
 *                               └▶ eu-1 music:tracks: [1, 2] ─▶ rows ─┘
 * }</pre>
 *
 * A query that fails costs its own items alone. A query that takes too long is cancelled; if it goes on all the same, it still counts
 * towards {@code maxQueries}. Thread-safe.
 */
public final class Scatter {
    private final IdentityResolver resolver;
    private final int maxQueries;
    private final Duration queryTimeout;

    /**
     * @param maxQueries most queries at a time for one list
     * @param queryTimeout how long one query may take
     * @throws IllegalArgumentException if either is not positive
     */
    public Scatter(IdentityResolver resolver, int maxQueries, Duration queryTimeout) {
        if (maxQueries < 1 || queryTimeout.isNegative() || queryTimeout.isZero()) {
            throw new IllegalArgumentException("not positive: " + maxQueries + " queries, " + queryTimeout);
        }
        this.resolver = resolver;
        this.maxQueries = maxQueries;
        this.queryTimeout = queryTimeout;
    }

    /**
     * Reads the rows of a list. Names of one identity, such as a merged one and its survivor, have the same row, which is
     * read once.
     *
     * @return an item for each reference, in the order asked; or a {@link ResolverException} when there are no verdicts
     */
    public <R> CompletionStage<List<Gathered<R>>> gather(List<Ref> refs, ShardQuery<R> query) {
        return resolver.resolveAllAsync(refs, Duration.ZERO)
                .thenCompose(verdicts -> new Gathering<R>(verdicts, query).run());
    }

    private static @Nullable Located located(Verdict verdict) {
        Placement placement = verdict.placement();
        Puri puri = verdict instanceof Verdict.Found found
                ? found.puri()
                : verdict instanceof Verdict.Merged merged ? merged.canonical() : null;
        return placement == null || puri == null ? null : new Located(puri, placement.owner(), placement.uuid());
    }

    /** One table: primary keys are unique within it, but not among the tables of a shard. */
    private record Table(Shard shard, String namespace, String collection) {
        static Table of(Placement placement, Located located) {
            return new Table(
                    placement.shard(),
                    located.puri().namespace(),
                    located.puri().collection());
        }
    }

    /** The queries for one list. */
    private final class Gathering<R> {
        private final List<Verdict> verdicts;
        private final ShardQuery<R> query;
        private final Queue<Map.Entry<Table, Set<Located>>> waiting = new ConcurrentLinkedQueue<>();
        private final Map<Table, Map<UUID, R>> rows = new ConcurrentHashMap<>();
        private final Map<Table, Throwable> failures = new ConcurrentHashMap<>();

        Gathering(List<Verdict> verdicts, ShardQuery<R> query) {
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
            waiting.addAll(byTable.entrySet());
        }

        CompletionStage<List<Gathered<R>>> run() {
            List<CompletableFuture<Boolean>> lanes = new ArrayList<>();
            for (int i = Math.min(maxQueries, waiting.size()); i > 0; i--) {
                lanes.add(lane());
            }
            return CompletableFuture.allOf(lanes.toArray(CompletableFuture[]::new))
                    .thenApply(done -> verdicts.stream().map(this::gathered).toList());
        }

        /** Queries one table after the other until none is left, or a query goes on although it was cancelled. */
        private CompletableFuture<Boolean> lane() {
            for (var next = waiting.poll(); next != null; next = waiting.poll()) {
                CompletableFuture<Boolean> asked = ask(next.getKey(), List.copyOf(next.getValue()));
                // The loop goes on if the query was answered at once; a call from here would go one deeper for each.
                if (!asked.isDone()) {
                    return asked.thenCompose(isOver -> isOver ? lane() : asked);
                }
            }
            return CompletableFuture.completedFuture(true);
        }

        /** Queries a table. The result completes when the next query may be made, with whether this one is over. */
        private CompletableFuture<Boolean> ask(Table table, List<Located> wanted) {
            CompletableFuture<Map<UUID, R>> answer = new CompletableFuture<>();
            CompletableFuture<Boolean> over = new CompletableFuture<>();
            Runnable cancel = () -> {};
            try {
                CompletionStage<Map<UUID, R>> asked = query.rows(table.shard(), wanted);
                cancel = () -> cancel(asked);
                var unused = asked.whenComplete((found, error) -> {
                    over.complete(true);
                    if (error == null) {
                        answer.complete(found);
                    } else {
                        answer.completeExceptionally(error);
                    }
                });
            } catch (RuntimeException e) {
                over.complete(true);
                answer.completeExceptionally(e);
            }
            Runnable cancelling = cancel;
            return answer.orTimeout(queryTimeout.toNanos(), TimeUnit.NANOSECONDS)
                    .handle((found, error) -> {
                        if (error == null) {
                            rows.put(table, Objects.requireNonNullElse(found, Map.of()));
                        } else {
                            failures.put(table, cause(error));
                            cancelling.run();
                        }
                        // The last queries of a list are not waited for any longer.
                        CompletableFuture<Boolean> end = waiting.isEmpty()
                                ? CompletableFuture.completedFuture(true)
                                : over.completeOnTimeout(false, queryTimeout.toNanos(), TimeUnit.NANOSECONDS);
                        return end;
                    })
                    .thenCompose(end -> end);
        }

        private void cancel(CompletionStage<?> asked) {
            try {
                asked.toCompletableFuture().cancel(true);
            } catch (UnsupportedOperationException e) {
                // A stage that cannot be cancelled counts until it ends.
            }
        }

        private Throwable cause(Throwable error) {
            Throwable cause =
                    error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
            return cause instanceof TimeoutException && cause.getMessage() == null
                    ? new TimeoutException("the shard did not answer within " + queryTimeout.toMillis() + " ms")
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
                        new TimeoutException("not asked: " + maxQueries
                                + " queries are over time, and as many may run at a time (maxQueries)"));
            }
            R row = found.get(located.uuid());
            return row == null ? new Gathered.NoRow<>(verdict) : new Gathered.Row<>(verdict, row);
        }
    }
}

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
 * Reads the rows of a mixed list: one look-up for all, one query for each shard, one list in the order asked.
 *
 * <pre>{@code
 * refs ─▶ resolver ─▶ verdicts ─┬▶ br-1: [0, 4] ─▶ rows ─┬▶ [Row, NoRow, Failed, Unplaced, Row]
 *                               └▶ eu-1: [1, 2] ─▶ rows ─┘
 * }</pre>
 *
 * A shard that fails costs its own items alone. Thread-safe.
 */
public final class Scatter {
    private final IdentityResolver resolver;
    private final int maxShards;
    private final Duration patience;

    /**
     * @param maxShards most shards asked at a time by one list
     * @param patience how long one shard may take
     * @throws IllegalArgumentException when either is not positive
     */
    public Scatter(IdentityResolver resolver, int maxShards, Duration patience) {
        if (maxShards < 1 || patience.isNegative() || patience.isZero()) {
            throw new IllegalArgumentException("not positive: " + maxShards + " shards, " + patience);
        }
        this.resolver = resolver;
        this.maxShards = maxShards;
        this.patience = patience;
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

    /** One list. */
    private final class Gathering<R> {
        private final List<Verdict> verdicts;
        private final ShardQuery<R> query;
        private final Queue<Map.Entry<Shard, Set<Located>>> waiting = new ConcurrentLinkedQueue<>();
        private final Map<Shard, Map<UUID, R>> rows = new ConcurrentHashMap<>();
        private final Map<Shard, Throwable> failures = new ConcurrentHashMap<>();

        Gathering(List<Verdict> verdicts, ShardQuery<R> query) {
            this.verdicts = verdicts;
            this.query = query;
            Map<Shard, Set<Located>> byShard = new LinkedHashMap<>();
            for (Verdict verdict : verdicts) {
                Located located = located(verdict);
                Placement placement = verdict.placement();
                if (located != null && placement != null) {
                    byShard.computeIfAbsent(placement.shard(), shard -> new LinkedHashSet<>())
                            .add(located);
                }
            }
            waiting.addAll(byShard.entrySet());
        }

        CompletionStage<List<Gathered<R>>> run() {
            List<CompletableFuture<Boolean>> lanes = new ArrayList<>();
            for (int i = Math.min(maxShards, waiting.size()); i > 0; i--) {
                lanes.add(lane());
            }
            return CompletableFuture.allOf(lanes.toArray(CompletableFuture[]::new))
                    .thenApply(done -> verdicts.stream().map(this::gathered).toList());
        }

        /** Asks one shard after the other until none waits. */
        private CompletableFuture<Boolean> lane() {
            for (var next = waiting.poll(); next != null; next = waiting.poll()) {
                CompletableFuture<Boolean> asked = ask(next.getKey(), List.copyOf(next.getValue()));
                // Not one call deeper for each shard that answers at once.
                if (!asked.isDone()) {
                    return asked.thenCompose(done -> lane());
                }
            }
            return CompletableFuture.completedFuture(true);
        }

        /** Completes when the shard has answered or failed. */
        private CompletableFuture<Boolean> ask(Shard shard, List<Located> wanted) {
            CompletableFuture<Map<UUID, R>> answer = new CompletableFuture<>();
            try {
                var unused = query.rows(shard, wanted).whenComplete((found, error) -> {
                    if (error == null) {
                        answer.complete(found);
                    } else {
                        answer.completeExceptionally(error);
                    }
                });
            } catch (RuntimeException e) {
                answer.completeExceptionally(e);
            }
            return answer.orTimeout(patience.toNanos(), TimeUnit.NANOSECONDS).handle((found, error) -> {
                if (error == null) {
                    rows.put(shard, Objects.requireNonNullElse(found, Map.of()));
                } else {
                    failures.put(shard, cause(error));
                }
                return error == null;
            });
        }

        private Throwable cause(Throwable error) {
            Throwable cause =
                    error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
            return cause instanceof TimeoutException && cause.getMessage() == null
                    ? new TimeoutException("the shard did not answer within " + patience.toMillis() + " ms")
                    : cause;
        }

        private Gathered<R> gathered(Verdict verdict) {
            Located located = located(verdict);
            Placement placement = verdict.placement();
            if (located == null || placement == null) {
                return new Gathered.Unplaced<>(verdict);
            }
            Throwable failure = failures.get(placement.shard());
            if (failure != null) {
                return new Gathered.Failed<>(verdict, failure);
            }
            R row = rows.getOrDefault(placement.shard(), Map.of()).get(located.uuid());
            return row == null ? new Gathered.NoRow<>(verdict) : new Gathered.Row<>(verdict, row);
        }
    }
}

package dev.puri.client.resolve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class ScatterTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    /** Answers out of a map, and unknown for the rest. */
    private record Fixed(Map<String, Verdict> known) implements IdentityResolver {
        @Override
        public CompletionStage<Verdict> resolveAsync(Ref ref, Duration wait) {
            return resolveAllAsync(List.of(ref), wait).thenApply(all -> all.get(0));
        }

        @Override
        public CompletionStage<List<Verdict>> resolveAllAsync(List<Ref> refs, Duration wait) {
            return CompletableFuture.completedFuture(refs.stream()
                    .map(ref -> known.getOrDefault(ref.text(), new Verdict.Unknown(ref)))
                    .toList());
        }

        @Override
        public void close() {}
    }

    private final Map<String, Verdict> known = new HashMap<>();

    private static UUID uuid(int i) {
        return new UUID(7, i);
    }

    private static Placement at(int i, String shard) {
        return new Placement(new Owner("catalog"), new Shard(shard), uuid(i));
    }

    private void found(int i, String shard) {
        Puri puri = Puri.parse("m:t:" + i);
        known.put(puri.toString(), new Verdict.Found(puri, null, at(i, shard), 1, Instant.EPOCH, Instant.EPOCH));
    }

    private List<Gathered<String>> gather(int maxShards, List<Ref> refs, ShardQuery<String> query) throws Exception {
        return new Scatter(new Fixed(known), maxShards, LONG)
                .gather(refs, query)
                .toCompletableFuture()
                .get(60, TimeUnit.SECONDS);
    }

    private static Map<UUID, String> rows(Shard shard, List<Located> wanted) {
        Map<UUID, String> rows = new HashMap<>();
        wanted.forEach(each -> rows.put(each.uuid(), shard + "/" + each.puri()));
        return rows;
    }

    private static List<Ref> refs(int... numbers) {
        List<Ref> refs = new ArrayList<>();
        for (int each : numbers) {
            refs.add(Ref.of("m:t:" + each));
        }
        return refs;
    }

    @Test
    void aMixedListKeepsTheRequestedOrderWithOneQueryForEachShard() throws Exception {
        for (int i = 0; i < 6; i++) {
            found(i, i % 2 == 0 ? "br-1" : "eu-1");
        }
        known.put(
                "m:t:9",
                new Verdict.Merged(
                        Puri.parse("m:t:9"),
                        null,
                        Puri.parse("m:t:4"),
                        at(4, "br-1"),
                        2,
                        Instant.EPOCH,
                        Instant.EPOCH,
                        null));
        Queue<String> asked = new ConcurrentLinkedQueue<>();
        List<Gathered<String>> list = gather(8, refs(5, 9, 8, 0, 4, 3, 5), (shard, wanted) -> {
            asked.add(shard + " " + wanted.size());
            return CompletableFuture.completedFuture(rows(shard, wanted));
        });
        Function<Gathered<String>, Object> row =
                item -> item instanceof Gathered.Row<String> found ? found.row() : item.getClass();
        assertThat(list)
                .map(row)
                .containsExactly(
                        "eu-1/m:t:5",
                        "br-1/m:t:4",
                        Gathered.Unplaced.class,
                        "br-1/m:t:0",
                        "br-1/m:t:4",
                        "eu-1/m:t:3",
                        "eu-1/m:t:5");
        assertThat(list.get(2).verdict()).isInstanceOf(Verdict.Unknown.class);
        assertThat(asked).containsExactlyInAnyOrder("eu-1 2", "br-1 2");
    }

    @Test
    void aFailingShardFailsOnlyItsOwnItems() throws Exception {
        found(1, "br-1");
        found(2, "eu-1");
        found(3, "us-1");
        found(4, "jp-1");
        List<Gathered<String>> list = new Scatter(new Fixed(known), 8, Duration.ofMillis(50))
                .gather(refs(1, 2, 3, 4), (ShardQuery<String>) (shard, wanted) -> switch (shard.text()) {
                    case "br-1" -> throw new IllegalStateException("no connection");
                    case "eu-1" -> CompletableFuture.failedFuture(new IllegalStateException("no table"));
                    case "us-1" -> new CompletableFuture<>();
                    default -> CompletableFuture.completedFuture(Map.of());
                })
                .toCompletableFuture()
                .get(60, TimeUnit.SECONDS);
        assertThat(((Gathered.Failed<String>) list.get(0)).error()).hasMessage("no connection");
        assertThat(((Gathered.Failed<String>) list.get(1)).error()).hasMessage("no table");
        assertThat(((Gathered.Failed<String>) list.get(2)).error())
                .isInstanceOf(TimeoutException.class)
                .hasMessageContaining("within 50 ms");
        assertThat(list.get(3)).isInstanceOf(Gathered.NoRow.class);
    }

    @Test
    void concurrentlyQueriedShardsAreBounded() throws Exception {
        for (int i = 0; i < 10; i++) {
            found(i, "shard-" + i);
        }
        List<CompletableFuture<Map<UUID, String>>> asked = new ArrayList<>();
        List<Map<UUID, String>> answers = new ArrayList<>();
        CompletableFuture<List<Gathered<String>>> list = new Scatter(new Fixed(known), 3, LONG)
                .gather(refs(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), (ShardQuery<String>) (shard, wanted) -> {
                    CompletableFuture<Map<UUID, String>> answer = new CompletableFuture<>();
                    asked.add(answer);
                    answers.add(rows(shard, wanted));
                    return answer;
                })
                .toCompletableFuture();
        for (int i = 0; i < 10; i++) {
            assertThat(asked).hasSize(Math.min(10, i + 3));
            asked.get(i).complete(answers.get(i));
        }
        assertThat(list.get(60, TimeUnit.SECONDS)).allMatch(item -> item instanceof Gathered.Row<String>);
    }

    @Test
    void manyShardsThatAnswerAtOnceDoNotOverflowTheStack() throws Exception {
        int[] numbers = new int[20_000];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = i;
            found(i, "shard-" + i);
        }
        List<Gathered<String>> list =
                gather(1, refs(numbers), (shard, wanted) -> CompletableFuture.completedFuture(rows(shard, wanted)));
        assertThat(list).hasSize(numbers.length).allMatch(item -> item instanceof Gathered.Row<String>);
    }

    @Test
    void aQueryThatBlocksRunsOnTheExecutor() throws Exception {
        found(1, "br-1");
        ExecutorService executor = Executors.newSingleThreadExecutor(task -> new Thread(task, "shards"));
        try {
            List<Gathered<String>> list = gather(
                    1,
                    refs(1),
                    ShardQuery.blocking(
                            executor,
                            (shard, wanted) -> Map.of(
                                    wanted.get(0).uuid(), Thread.currentThread().getName())));
            assertThat(((Gathered.Row<String>) list.get(0)).row()).isEqualTo("shards");
        } finally {
            executor.shutdownNow();
        }
    }

    /** Two tables of one shard may have one primary key. */
    @Test
    void rowsOfTwoCollectionsWithOneKeyAreNotMixedUp() throws Exception {
        for (String name : List.of("m:t:1", "m:u:1", "n:t:1")) {
            known.put(name, new Verdict.Found(Puri.parse(name), null, at(1, "br-1"), 1, Instant.EPOCH, Instant.EPOCH));
        }
        List<Gathered<String>> list = gather(
                8,
                Ref.all(List.of("m:t:1", "m:u:1", "n:t:1")),
                (shard, wanted) -> CompletableFuture.completedFuture(rows(shard, wanted)));
        assertThat(list)
                .map(item -> ((Gathered.Row<String>) item).row())
                .containsExactly("br-1/m:t:1", "br-1/m:u:1", "br-1/n:t:1");
    }

    @Test
    void aSlowQueryIsCancelledAndTheNextStarts() throws Exception {
        found(1, "br-1");
        found(2, "eu-1");
        CompletableFuture<Map<UUID, String>> hung = new CompletableFuture<>();
        List<Gathered<String>> list = new Scatter(new Fixed(known), 1, Duration.ofMillis(50))
                .gather(refs(1, 2), (ShardQuery<String>) (shard, wanted) ->
                        shard.text().equals("br-1") ? hung : CompletableFuture.completedFuture(rows(shard, wanted)))
                .toCompletableFuture()
                .get(60, TimeUnit.SECONDS);
        assertThat(hung).isCancelled();
        assertThat(list.get(0)).isInstanceOf(Gathered.Failed.class);
        assertThat(list.get(1)).isInstanceOf(Gathered.Row.class);
    }

    @Test
    void aQueryThatCannotBeCancelledStillCounts() throws Exception {
        found(1, "br-1");
        found(2, "eu-1");
        Queue<String> asked = new ConcurrentLinkedQueue<>();
        CompletableFuture<Map<UUID, String>> hung = new CompletableFuture<>();
        List<Gathered<String>> list = new Scatter(new Fixed(known), 1, Duration.ofMillis(50))
                .gather(refs(1, 2), (ShardQuery<String>) (shard, wanted) -> {
                    asked.add(shard.text());
                    return hung.minimalCompletionStage();
                })
                .toCompletableFuture()
                .get(60, TimeUnit.SECONDS);
        assertThat(asked).containsExactly("br-1");
        assertThat(((Gathered.Failed<String>) list.get(1)).error())
                .isInstanceOf(TimeoutException.class)
                .hasMessageContaining("not queried");
    }

    @Test
    void aBlockingQueryIsInterruptedAndOneThatHasNotStartedIsSkipped() throws Exception {
        found(1, "br-1");
        found(2, "eu-1");
        Queue<String> asked = new ConcurrentLinkedQueue<>();
        CompletableFuture<String> interrupted = new CompletableFuture<>();
        CompletableFuture<Void> goOn = new CompletableFuture<>();
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try {
            List<Gathered<String>> list = new Scatter(new Fixed(known), 2, Duration.ofMillis(50))
                    .gather(refs(1, 2), ShardQuery.<String>blocking(executor, (shard, wanted) -> {
                        asked.add(shard.text());
                        try {
                            new CountDownLatch(1).await();
                        } catch (InterruptedException e) {
                            interrupted.complete(shard.text());
                            goOn.join();
                        }
                        return Map.of();
                    }))
                    .toCompletableFuture()
                    .get(60, TimeUnit.SECONDS);
            assertThat(list).allMatch(item -> item instanceof Gathered.Failed<String>);
            assertThat(interrupted.get(60, TimeUnit.SECONDS)).isEqualTo("br-1");
        } finally {
            goOn.complete(null);
            executor.shutdown();
        }
        assertThat(executor.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
        assertThat(asked).containsExactly("br-1");
    }

    @Test
    void invalidBoundsAreRefused() {
        assertThatThrownBy(() -> new Scatter(new Fixed(known), 0, LONG)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Scatter(new Fixed(known), 1, Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class);
    }
}

package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexChange;
import dev.puri.search.index.IndexCheckpoint;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Rebuilds of the index, and failures of an index. */
final class ReindexingIT extends SearchServerFixture {
    @Test
    void recreatedTopicsAreReadIntoANewIndex() throws Exception {
        topics.fill("soundcloud:tracks", 0, 50);
        start(Map.of());
        awaitReady();
        MemoryIndex before = store.serving();

        topics.deleteTopics();
        assertThat(total("facets=false")).isEqualTo(50);
        topics.createTopics();
        topics.fill("soundcloud:users", 0, 20);

        await().atMost(Duration.ofSeconds(60)).until(() -> total("facets=false") == 20);
        awaitReady();
        assertThat(store.serving()).isNotSameAs(before);
        await().atMost(Duration.ofSeconds(10)).until(before::isClosed);
        assertThat(get("/metrics", 200)).containsPattern("puri_search_rebuilds_total [1-9]");
    }

    @Test
    void afterARestartAnIndexOfOtherTopicsDoesNotServe() throws Exception {
        topics.fill("soundcloud:tracks", 0, 50);
        start(Map.of());
        awaitReady();
        server.close();
        MemoryIndex before = store.serving();
        topics.deleteTopics();
        topics.createTopics();
        topics.fill("soundcloud:users", 0, 20);

        start(Map.of());
        // First the old index serves, then none, then the new one.
        await().atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(5))
                .until(() -> {
                    HttpResponse<String> answer = INTERNAL_API.send(request("GET", "/v1/search?facets=false"));
                    return answer.statusCode() == 200
                            && JSON.readTree(answer.body()).path("total").asLong() == 20;
                });
        await().atMost(Duration.ofSeconds(10)).until(before::isClosed);
    }

    @Test
    void aRebuildRemovesGhostsWhileSearchesAreAnswered() throws Exception {
        topics.fill("soundcloud:tracks", 0, 3000);
        start(Map.of());
        awaitReady();
        MemoryIndex before = store.serving();
        before.plant(change(
                EntryKind.DOCUMENT, "ghost:in:index", Samples.document(Samples.active(9, "br-9"), "number ghost")));
        assertThat(found("q=ghost")).containsExactly("ghost:in:index");

        assertThat(INTERNAL_API.send(request("POST", "/v1/search/reindex")).statusCode())
                .isEqualTo(202);
        AtomicInteger answers = new AtomicInteger();
        await().atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(5))
                .until(() -> {
                    assertThat(total("q=number&facets=false")).isIn(3000L, 3001L);
                    answers.incrementAndGet();
                    return get("/v1/search/reindex", 200).contains("\"done\"");
                });
        assertThat(found("q=ghost")).isEmpty();
        assertThat(store.serving()).isNotSameAs(before);
        assertThat(JSON.readTree(get("/v1/search/reindex", 200)).path("records").asLong())
                .isEqualTo(6000);
        await().atMost(Duration.ofSeconds(10)).until(before::isClosed);
        assertThat(answers).hasPositiveValue();

        topics.fill("soundcloud:tracks", 3000, 3001);
        await().atMost(Duration.ofSeconds(10)).until(() -> total("q=n3000") == 1);
    }

    @Test
    void continuesAnInterruptedRebuild() throws Exception {
        topics.fill("soundcloud:tracks", 0, 100);
        start(Map.of());
        awaitReady();
        server.close();
        MemoryIndex before = store.serving();
        MemoryIndex unfinished = store.createUnfinished();
        for (EntryKind kind : EntryKind.values()) {
            before.forEach(kind, (puri, entry) -> unfinished.plant(new IndexChange(kind, 0, 0, puri, entry)));
        }
        IndexCheckpoint reached = before.committedCheckpoint();
        unfinished.commit(
                new IndexCheckpoint(reached.topicIds(), reached.offsets(), reached.completeUpTo(), false, null));
        topics.fill("soundcloud:tracks", 100, 110);

        start(Map.of());
        await().atMost(Duration.ofSeconds(30)).until(() -> store.serving() == unfinished);
        await().atMost(Duration.ofSeconds(10)).until(() -> total("facets=false") == 110);
        assertThat(reindexing().path("records").asInt())
                .as("new records of both topics")
                .isEqualTo(20);
    }

    @Test
    void aFailedRebuildDoesNotAffectTheServingIndexAndContinues() throws Exception {
        topics.fill("soundcloud:tracks", 0, 100);
        start(Map.of());
        awaitReady();
        MemoryIndex before = store.serving();
        store.setNewIndexUnavailable(true);
        assertThat(ask("POST")).isEqualTo(202);
        await().atMost(Duration.ofSeconds(10))
                .until(() -> get("/metrics", 200).contains("puri_search_retries_total 3.0"));
        topics.fill("soundcloud:tracks", 100, 110);
        SearchServer current = server;
        await().atMost(Duration.ofSeconds(10))
                .pollInterval(Duration.ofMillis(5))
                .until(() -> total("facets=false") == 110);
        assertThat(current.isReady()).isTrue();
        assertThat(store.serving()).isSameAs(before);

        store.unfinished().setUnavailable(false);
        awaitRebuild("done");
        assertThat(store.serving()).isNotSameAs(before);
        assertThat(total("facets=false")).isEqualTo(110);
    }

    @Test
    void aCancelledRebuildEndsWhenItsIndexIsDropped() throws Exception {
        topics.fill("soundcloud:tracks", 0, 100);
        start(Map.of());
        awaitReady();
        MemoryIndex before = store.serving();
        store.setNewIndexUnavailable(true);
        assertThat(ask("POST")).isEqualTo(202);
        await().atMost(Duration.ofSeconds(10)).until(() -> store.unfinished() != null);
        store.setDropUnavailable(true);
        assertThat(ask("DELETE")).isEqualTo(202);
        await().atMost(Duration.ofSeconds(10))
                .until(() -> get("/metrics", 200).contains("puri_search_retries_total 3.0"));
        assertThat(reindexing().path("state").asText()).isEqualTo("running");

        store.setDropUnavailable(false);
        awaitRebuild("ended");
        assertThat(store.unfinished()).isNull();
        assertThat(store.serving()).isSameAs(before);
        assertThat(total("facets=false")).isEqualTo(100);
    }

    @Test
    void aRebuildCanStartAfterACancelledOne() throws Exception {
        topics.fill("soundcloud:tracks", 0, 100);
        start(Map.of());
        awaitReady();
        store.setNewIndexUnavailable(true);
        assertThat(ask("POST")).isEqualTo(202);
        await().atMost(Duration.ofSeconds(10)).until(() -> store.unfinished() != null);
        MemoryIndex first = store.unfinished();
        store.setNewIndexUnavailable(false);
        store.setDropUnavailable(true);
        assertThat(ask("DELETE")).isEqualTo(202);
        assertThat(ask("POST")).isEqualTo(202);
        store.setDropUnavailable(false);

        awaitRebuild("done");
        assertThat(first.isClosed()).isTrue();
        assertThat(store.serving()).isNotSameAs(first);
    }

    @Test
    void continuesAReopenedIndexUnderLoad() throws Exception {
        start(Map.of("search.commit.interval", "100ms"));
        awaitReady();
        MemoryIndex before = store.serving();
        AtomicBoolean isRunning = new AtomicBoolean(true);
        CompletableFuture<Integer> load = CompletableFuture.supplyAsync(
                () -> {
                    int total = 0;
                    for (; isRunning.get(); total++) {
                        topics.fill("soundcloud:tracks", total, total + 1);
                        LockSupport.parkNanos(20_000_000);
                    }
                    return total;
                },
                task -> Thread.ofPlatform().daemon(true).start(task));
        SearchServer current = server;
        try {
            for (int hiccup = 1; hiccup <= 3; hiccup++) {
                int expected = hiccup * 20;
                await().atMost(Duration.ofSeconds(30))
                        .pollInterval(Duration.ofMillis(10))
                        .until(() -> current.isReady() && total("facets=false") > expected);
                before.setUnavailable(true);
                await().atMost(Duration.ofSeconds(10))
                        .pollInterval(Duration.ofMillis(5))
                        .until(() -> !current.isReady());
                before.setUnavailable(false);
            }
            awaitReady();
        } finally {
            isRunning.set(false);
        }
        int total = load.join();
        await().atMost(Duration.ofSeconds(30)).until(() -> total("facets=false") == total);
        assertThat(get("/metrics", 200)).contains("puri_search_rebuilds_total 0.0");
        assertThat(store.serving()).isSameAs(before);
    }

    @Test
    void doesNotDropAnIndexThatFailedWithABug() {
        topics.fill("soundcloud:tracks", 0, 10);
        start(Map.of("search.commit.interval", "100ms"));
        awaitReady();
        store.serving().setBroken(true);
        topics.fill("soundcloud:tracks", 10, 20);
        SearchServer current = server;
        await().atMost(Duration.ofSeconds(10)).until(() -> !current.isReady());
        store.serving().setBroken(false);
        awaitReady();
        await().atMost(Duration.ofSeconds(20)).until(() -> total("facets=false") == 20);
        assertThat(store.servingDrops()).isZero();
    }
}

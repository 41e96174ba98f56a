package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.search.index.Entry;
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
        written.fill("soundcloud:tracks", 0, 50);
        start(Map.of());
        awaitReady();
        MemoryIndex before = home.serving();

        written.deleteTopics();
        assertThat(total("facets=false")).isEqualTo(50);
        written.createTopics();
        written.fill("soundcloud:users", 0, 20);

        await().atMost(Duration.ofSeconds(60)).until(() -> total("facets=false") == 20);
        awaitReady();
        assertThat(home.serving()).isNotSameAs(before);
        await().atMost(Duration.ofSeconds(10)).until(before::isClosed);
        assertThat(get("/metrics", 200)).containsPattern("puri_search_rebuilds_total [1-9]");
    }

    @Test
    void afterARestartAnIndexOfOtherTopicsDoesNotServe() throws Exception {
        written.fill("soundcloud:tracks", 0, 50);
        start(Map.of());
        awaitReady();
        server.close();
        MemoryIndex before = home.serving();
        written.deleteTopics();
        written.createTopics();
        written.fill("soundcloud:users", 0, 20);

        start(Map.of());
        // First the old index serves, then none, then the new one.
        await().atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(5))
                .until(() -> {
                    HttpResponse<String> answer = INSIDE.send(request("GET", "/v1/search?facets=false"));
                    return answer.statusCode() == 200
                            && JSON.readTree(answer.body()).path("total").asLong() == 20;
                });
        await().atMost(Duration.ofSeconds(10)).until(before::isClosed);
    }

    @Test
    void aRebuildRemovesGhostsWhileSearchesAreAnswered() throws Exception {
        written.fill("soundcloud:tracks", 0, 3000);
        start(Map.of());
        awaitReady();
        MemoryIndex before = home.serving();
        before.plant(change(
                EntryKind.DOCUMENT,
                "ghost:in:index",
                new Entry.OfDocument(Samples.document(Samples.active(9, "br-9"), "number ghost"))));
        assertThat(found("q=ghost")).containsExactly("ghost:in:index");

        assertThat(INSIDE.send(request("POST", "/v1/search/reindex")).statusCode())
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
        assertThat(home.serving()).isNotSameAs(before);
        assertThat(JSON.readTree(get("/v1/search/reindex", 200)).path("records").asLong())
                .isEqualTo(6000);
        await().atMost(Duration.ofSeconds(10)).until(before::isClosed);
        assertThat(answers).hasPositiveValue();

        written.fill("soundcloud:tracks", 3000, 3001);
        await().atMost(Duration.ofSeconds(10)).until(() -> total("q=n3000") == 1);
    }

    @Test
    void continuesAnInterruptedRebuild() throws Exception {
        written.fill("soundcloud:tracks", 0, 100);
        start(Map.of());
        awaitReady();
        server.close();
        MemoryIndex before = home.serving();
        MemoryIndex left = home.build();
        for (EntryKind kind : EntryKind.values()) {
            before.forEach(kind, (puri, entry) -> left.plant(new IndexChange(kind, 0, 0, puri, entry)));
        }
        IndexCheckpoint reached = before.committed();
        left.commit(new IndexCheckpoint(reached.topicIds(), reached.offsets(), reached.asOf(), false, null));
        written.fill("soundcloud:tracks", 100, 110);

        start(Map.of());
        await().atMost(Duration.ofSeconds(30)).until(() -> home.serving() == left);
        await().atMost(Duration.ofSeconds(10)).until(() -> total("facets=false") == 110);
        assertThat(reindexing().path("records").asInt())
                .as("new records of both topics")
                .isEqualTo(20);
    }

    @Test
    void aFailedRebuildDoesNotAffectTheServingIndexAndContinues() throws Exception {
        written.fill("soundcloud:tracks", 0, 100);
        start(Map.of());
        awaitReady();
        MemoryIndex before = home.serving();
        home.setBuiltAway(true);
        assertThat(ask("POST")).isEqualTo(202);
        await().atMost(Duration.ofSeconds(10))
                .until(() -> get("/metrics", 200).contains("puri_search_retries_total 3.0"));
        written.fill("soundcloud:tracks", 100, 110);
        SearchServer asked = server;
        await().atMost(Duration.ofSeconds(10))
                .pollInterval(Duration.ofMillis(5))
                .until(() -> total("facets=false") == 110);
        assertThat(asked.isReady()).isTrue();
        assertThat(home.serving()).isSameAs(before);

        home.building().setAway(false);
        awaitRebuild("done");
        assertThat(home.serving()).isNotSameAs(before);
        assertThat(total("facets=false")).isEqualTo(110);
    }

    @Test
    void aCancelledRebuildEndsWhenItsIndexIsDropped() throws Exception {
        written.fill("soundcloud:tracks", 0, 100);
        start(Map.of());
        awaitReady();
        MemoryIndex before = home.serving();
        home.setBuiltAway(true);
        assertThat(ask("POST")).isEqualTo(202);
        await().atMost(Duration.ofSeconds(10)).until(() -> home.building() != null);
        home.setDroppingAway(true);
        assertThat(ask("DELETE")).isEqualTo(202);
        await().atMost(Duration.ofSeconds(10))
                .until(() -> get("/metrics", 200).contains("puri_search_retries_total 3.0"));
        assertThat(reindexing().path("state").asText()).isEqualTo("running");

        home.setDroppingAway(false);
        awaitRebuild("ended");
        assertThat(home.building()).isNull();
        assertThat(home.serving()).isSameAs(before);
        assertThat(total("facets=false")).isEqualTo(100);
    }

    @Test
    void aRebuildCanStartAfterACancelledOne() throws Exception {
        written.fill("soundcloud:tracks", 0, 100);
        start(Map.of());
        awaitReady();
        home.setBuiltAway(true);
        assertThat(ask("POST")).isEqualTo(202);
        await().atMost(Duration.ofSeconds(10)).until(() -> home.building() != null);
        MemoryIndex first = home.building();
        home.setBuiltAway(false);
        home.setDroppingAway(true);
        assertThat(ask("DELETE")).isEqualTo(202);
        assertThat(ask("POST")).isEqualTo(202);
        home.setDroppingAway(false);

        awaitRebuild("done");
        assertThat(first.isClosed()).isTrue();
        assertThat(home.serving()).isNotSameAs(first);
    }

    @Test
    void continuesAReopenedIndexUnderLoad() throws Exception {
        start(Map.of("search.commit.interval", "100ms"));
        awaitReady();
        MemoryIndex before = home.serving();
        AtomicBoolean goesOn = new AtomicBoolean(true);
        CompletableFuture<Integer> load = CompletableFuture.supplyAsync(
                () -> {
                    int all = 0;
                    for (; goesOn.get(); all++) {
                        written.fill("soundcloud:tracks", all, all + 1);
                        LockSupport.parkNanos(20_000_000);
                    }
                    return all;
                },
                task -> Thread.ofPlatform().daemon(true).start(task));
        SearchServer asked = server;
        try {
            for (int hiccup = 1; hiccup <= 3; hiccup++) {
                int have = hiccup * 20;
                await().atMost(Duration.ofSeconds(30))
                        .pollInterval(Duration.ofMillis(10))
                        .until(() -> asked.isReady() && total("facets=false") > have);
                before.setAway(true);
                await().atMost(Duration.ofSeconds(10))
                        .pollInterval(Duration.ofMillis(5))
                        .until(() -> !asked.isReady());
                before.setAway(false);
            }
            awaitReady();
        } finally {
            goesOn.set(false);
        }
        int all = load.join();
        await().atMost(Duration.ofSeconds(30)).until(() -> total("facets=false") == all);
        assertThat(get("/metrics", 200)).contains("puri_search_rebuilds_total 0.0");
        assertThat(home.serving()).isSameAs(before);
    }

    @Test
    void doesNotDropAnIndexThatFailedWithABug() {
        written.fill("soundcloud:tracks", 0, 10);
        start(Map.of("search.commit.interval", "100ms"));
        awaitReady();
        home.serving().setBroken(true);
        written.fill("soundcloud:tracks", 10, 20);
        SearchServer asked = server;
        await().atMost(Duration.ofSeconds(10)).until(() -> !asked.isReady());
        home.serving().setBroken(false);
        awaitReady();
        await().atMost(Duration.ofSeconds(20)).until(() -> total("facets=false") == 20);
        assertThat(home.mistakes()).isZero();
    }
}

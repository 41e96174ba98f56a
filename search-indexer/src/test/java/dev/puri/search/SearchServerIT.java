package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.testkit.HangingTransaction;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

/** Searches and waits for events. */
final class SearchServerIT extends SearchServerFixture {
    @Test
    void indexesDocumentsAsTheirCollectionDeclares() throws Exception {
        SearchedAttributes declared = SearchedAttributes.of(Map.of("artist", 5), Set.of("note"));
        topics.put("soundcloud:users:1", Samples.active(2, "br-1"), "Undeclared", 1);
        start(Map.of());
        awaitReady();
        topics.declare("soundcloud:tracks", false, true, declared);
        topics.put(TRACK, Samples.active(1, "br-1"), "Midnight City", 2);
        await().until(() -> found("q=midnight").contains(TRACK));

        assertThat(store.serving().declaredOf(Puri.parse(TRACK))).isEqualTo(declared);
        assertThat(store.serving().declaredOf(Puri.parse("soundcloud:users:1"))).isEqualTo(SearchedAttributes.DEFAULT);
    }

    @Test
    void findsAndRemovesEntriesOfTheRegistry() throws Exception {
        topics.put(TRACK, Samples.active(1, "br-1"), "Midnight City", 1);
        topics.junk(Topics.IDENTITIES, "no pURI", new byte[] {1, 2, 3});
        topics.junk(Topics.DOCUMENTS, "soundcloud:tracks:9", new byte[] {1, 2, 3});
        start(Map.of());
        awaitReady();
        assertThat(found("q=midnight")).containsExactly(TRACK);
        assertThat(get("/metrics", 200))
                .contains("puri_search_undecodable_total{kind=\"identity\"} 1.0")
                .contains("puri_search_undecodable_total{kind=\"document\"} 1.0");

        Position moved = topics.put(TRACK, Samples.active(1, "br-2"), "Midnight City", 2);
        assertThat(JSON.readTree(get("/v1/search?q=midnight&ref=" + TRACK + "&wait=10s&at=" + moved, 200))
                        .at("/results/0/shard")
                        .asText())
                .isEqualTo("br-2");

        Position described = topics.put(TRACK, Samples.active(1, "br-2"), "Morning Village", 3);
        String waited = "&ref=" + TRACK + "&wait=10s&at=";
        assertThat(found("q=midnight" + waited + described)).isEmpty();
        assertThat(found("q=village")).containsExactly(TRACK);

        Row merged = Samples.row(1, "br-2", null, Row.Status.MERGED, "soundcloud:tracks:2");
        assertThat(found("q=village" + waited + topics.put(TRACK, merged, "Morning Village", 4)))
                .isEmpty();
        assertThat(found("q=village&status=merged")).containsExactly(TRACK);

        Row deleted = Samples.row(1, "br-2", null, Row.Status.DELETED, null);
        assertThat(found("status=deleted" + waited + topics.put(TRACK, deleted, null, 5)))
                .containsExactly(TRACK);
        assertThat(found("q=village&status=merged")).isEmpty();

        Position erased = topics.put(TRACK, null, null, 6);
        assertThat(found("status=deleted&status=active" + waited + erased)).isEmpty();
    }

    @Test
    void stopsWhileTheEngineDoesNotAnswer() throws Exception {
        CountDownLatch opening = new CountDownLatch(1);
        AtomicBoolean isCutOff = new AtomicBoolean();
        Indexer.EngineOpener silent = () -> {
            opening.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                isCutOff.set(true);
                Thread.currentThread().interrupt();
            }
            throw new IndexUnavailableException("nobody answered", new IOException("silence"));
        };
        try (SearchServer waiting = start(Map.of(), silent)) {
            opening.await();
            assertThat(get("/health/ready", 503)).contains("the engine is being opened");
        }
        assertThat(isCutOff).isTrue();
    }

    @Test
    void aTokenWaitsForItsEventAndReportsARefusal() throws Exception {
        start(Map.of());
        awaitReady();
        Position event = TopicWriter.event(TRACK, 7);
        String path = "/v1/search?q=city&ref=" + TRACK + "&at=" + event;

        assertThat(get(path, 504)).contains("not-caught-up");
        CompletableFuture<HttpResponse<String>> waiting = INTERNAL_API.sendAsync(request("GET", path + "&wait=20s"));
        assertThat(get("/v1/search", 200)).contains("\"total\":0");
        assertThat(waiting).isNotDone();
        Row row = Samples.row(1, "br-1", "trk_4k7vx9tz2nqr8w3", Row.Status.ACTIVE, null);
        topics.put(TRACK, row, "Midnight City", 7);
        assertThat(waiting.join().body()).contains(TRACK);
        assertThat(get("/v1/search?q=city&ref=trk_4k7vx9tz2nqr8w3&at=" + event, 200))
                .contains(TRACK);

        Position refused = topics.refuse(TRACK, row, Outcome.refused(Reason.STALE_EPOCH), 8);
        assertThat(get("/v1/search?ref=" + TRACK + "&wait=10s&at=" + refused, 409))
                .contains("\"STALE_EPOCH\"");
        assertThat(get("/v1/search?ref=" + TRACK + "&wait=1s&at=music-0-1", 400))
                .contains("foreign-token");
    }

    /**
     * An open transaction moves the ends of all partitions beyond the offsets that readers can reach, as steady writes
     * do.
     */
    @Test
    void anOlderEventIsAnsweredAtOnceDuringWrites() throws Exception {
        start(Map.of());
        awaitReady();
        String bare = "soundcloud:tracks:2";
        Position searched = topics.put(TRACK, Samples.active(1, "br-1"), "Midnight City", 1);
        Position unsearched = topics.put(bare, Samples.active(2, "br-1"), null, 2);
        get("/v1/search?ref=" + TRACK + "&wait=20s&at=" + searched, 200);
        // The indexer asks the brokers for end offsets once a second.
        await().during(Duration.ofSeconds(3))
                .atMost(Duration.ofSeconds(20))
                .until(() -> status(bare, unsearched) == 200);

        String late = "soundcloud:tracks:3";
        List<String> everywhere = new ArrayList<>(List.of(late));
        for (int i = 0; i < 50; i++) {
            everywhere.add("soundcloud:noise:" + i);
        }
        Runnable commit = topics.beginTransaction(everywhere, 9);
        assertThat(status(TRACK, searched)).isEqualTo(200);
        assertThat(status(bare, unsearched)).isEqualTo(200);

        // Its row is visible. Its document belongs to the open transaction.
        Position unseen = topics.refuse(late, Samples.active(3, "br-1"), Outcome.APPLIED, 3);
        await().atMost(Duration.ofSeconds(20)).until(() -> found("facets=false").contains(late));
        await().during(Duration.ofSeconds(3)).atMost(Duration.ofSeconds(10)).until(() -> status(late, unseen) == 504);
        commit.run();
        await().atMost(Duration.ofSeconds(20)).until(() -> status(late, unseen) == 200);
    }

    @Test
    void aHangingTransactionMakesTheServerUnready() throws Exception {
        topics.put(TRACK, Samples.active(1, "br-1"), "Midnight City", 1);
        start(Map.of());
        awaitReady();
        HangingTransaction left = HangingTransaction.leave(
                broker.bootstrapServers(), new TopicPartition(Topics.DOCUMENTS, 0), "puri-registry-left");

        SearchServer current = server;
        await().atMost(Duration.ofSeconds(60)).until(() -> !current.isReady());
        assertThat(get("/health/ready", 503))
                .contains("puri.documents.v1-0 cannot be read beyond offset")
                .contains("transactional id puri-registry-left")
                .contains("kafka-transactions.sh abort --topic puri.documents.v1 --partition 0");
        assertThat(found("q=midnight")).containsExactly(TRACK);

        left.abort();

        awaitReady();
        assertThat(get("/metrics", 200)).contains("puri_transactions_hanging 0.0");
    }

    @Test
    void aRestartContinuesAtTheCheckpoint() {
        topics.fill("soundcloud:tracks", 0, 100);
        start(Map.of());
        awaitReady();
        server.close();
        MemoryIndex before = store.serving();
        topics.fill("soundcloud:tracks", 100, 110);

        start(Map.of());
        // The complete index serves at once, and new records follow.
        await().atMost(Duration.ofSeconds(30)).until(() -> total("facets=false") == 110);
        assertThat(store.serving()).isSameAs(before);
        assertThat(get("/metrics", 200)).contains("puri_search_indexed_total{kind=\"document\"} 10.0");
    }

    @Test
    void losesNothingWhileTheEngineIsUnavailable() {
        topics.fill("soundcloud:tracks", 0, 10);
        start(Map.of("search.commit.interval", "100ms"));
        awaitReady();
        store.serving().setUnavailable(true);
        topics.fill("soundcloud:tracks", 10, 20);
        SearchServer current = server;
        await().atMost(Duration.ofSeconds(10)).until(() -> !current.isReady());
        assertThat(get("/v1/search", 503)).contains("the engine is unavailable");

        store.serving().setUnavailable(false);
        awaitReady();
        await().atMost(Duration.ofSeconds(20)).until(() -> total("facets=false") == 20);
    }

    private int status(String puri, Position event) throws Exception {
        return INTERNAL_API
                .send(request("GET", "/v1/search?ref=" + puri + "&at=" + event))
                .statusCode();
    }
}

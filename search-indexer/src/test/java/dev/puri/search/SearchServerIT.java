package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import dev.puri.search.index.Entry;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexChange;
import dev.puri.search.index.IndexCheckpoint;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.testkit.Broker;
import dev.puri.testkit.Contract;
import dev.puri.testkit.HangingTransaction;
import dev.puri.testkit.SchemaRegistryFixture;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An indexer on a real broker and a real schema registry, with an index in memory. */
@Timeout(120)
final class SearchServerIT {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final Contract INSIDE = new Contract(CLIENT, "/openapi-search.json");
    private static final String TRACK = "soundcloud:tracks:1";

    private final Broker broker = Broker.shared();
    private final SchemaRegistryFixture registry = SchemaRegistryFixture.shared();
    private final MemoryHome home = new MemoryHome();
    private final List<SearchServer> servers = new ArrayList<>();
    private final Written written = new Written(broker.bootstrapServers(), registry.url());
    private SearchServer server;

    @BeforeEach
    void createTopics() throws Exception {
        written.createTopics();
    }

    @AfterEach
    void stop() throws Exception {
        servers.forEach(SearchServer::close);
        written.deleteTopics();
        written.close();
    }

    private SearchServer start(Map<String, String> more) {
        return start(more, () -> home);
    }

    private SearchServer start(Map<String, String> more, Indexer.Homes homes) {
        server = SearchServer.start(written.settings(more), homes);
        servers.add(server);
        return server;
    }

    private void awaitReady() {
        SearchServer asked = server;
        await().atMost(Duration.ofSeconds(30)).until(asked::isReady);
    }

    @Test
    void documentsAreIndexedAsTheirCollectionDeclares() throws Exception {
        SearchedAttributes declared = SearchedAttributes.of(Map.of("artist", 5), Set.of("note"));
        written.put("soundcloud:users:1", Samples.active(2, "br-1"), "Undeclared", 1);
        start(Map.of());
        awaitReady();
        written.declare("soundcloud:tracks", false, true, declared);
        written.put(TRACK, Samples.active(1, "br-1"), "Midnight City", 2);
        await().until(() -> found("q=midnight").contains(TRACK));

        assertThat(home.serving().declaredOf(Puri.parse(TRACK))).isEqualTo(declared);
        assertThat(home.serving().declaredOf(Puri.parse("soundcloud:users:1"))).isEqualTo(SearchedAttributes.DEFAULT);
    }

    @Test
    void whatTheRegistryWritesIsFoundAndForgotten() throws Exception {
        written.put(TRACK, Samples.active(1, "br-1"), "Midnight City", 1);
        written.junk(Topics.IDENTITIES, "no pURI", new byte[] {1, 2, 3});
        written.junk(Topics.DOCUMENTS, "soundcloud:tracks:9", new byte[] {1, 2, 3});
        start(Map.of());
        awaitReady();
        assertThat(found("q=midnight")).containsExactly(TRACK);
        assertThat(get("/metrics", 200))
                .contains("puri_search_undecodable_total{kind=\"identity\"} 1.0")
                .contains("puri_search_undecodable_total{kind=\"document\"} 1.0");

        Position moved = written.put(TRACK, Samples.active(1, "br-2"), "Midnight City", 2);
        assertThat(JSON.readTree(get("/v1/search?q=midnight&ref=" + TRACK + "&wait=10s&at=" + moved, 200))
                        .at("/results/0/shard")
                        .asText())
                .isEqualTo("br-2");

        Position described = written.put(TRACK, Samples.active(1, "br-2"), "Morning Village", 3);
        String waited = "&ref=" + TRACK + "&wait=10s&at=";
        assertThat(found("q=midnight" + waited + described)).isEmpty();
        assertThat(found("q=village")).containsExactly(TRACK);

        Row merged = Samples.row(1, "br-2", null, Row.Status.MERGED, "soundcloud:tracks:2");
        assertThat(found("q=village" + waited + written.put(TRACK, merged, "Morning Village", 4)))
                .isEmpty();
        assertThat(found("q=village&status=merged")).containsExactly(TRACK);

        Row deleted = Samples.row(1, "br-2", null, Row.Status.DELETED, null);
        assertThat(found("status=deleted" + waited + written.put(TRACK, deleted, null, 5)))
                .containsExactly(TRACK);
        assertThat(found("q=village&status=merged")).isEmpty();

        Position erased = written.put(TRACK, null, null, 6);
        assertThat(found("status=deleted&status=active" + waited + erased)).isEmpty();
    }

    @Test
    void aServerWhoseEngineNeverAnsweredDoesNotWaitForItToStop() throws Exception {
        CountDownLatch opening = new CountDownLatch(1);
        AtomicBoolean isCutOff = new AtomicBoolean();
        Indexer.Homes silent = () -> {
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
    void aTokenWaitsForItsEventAndTellsARefusal() throws Exception {
        start(Map.of());
        awaitReady();
        Position event = Written.event(TRACK, 7);
        String asked = "/v1/search?q=city&ref=" + TRACK + "&at=" + event;

        assertThat(get(asked, 504)).contains("not-caught-up");
        CompletableFuture<HttpResponse<String>> waiting = INSIDE.sendAsync(request("GET", asked + "&wait=20s"));
        assertThat(get("/v1/search", 200)).contains("\"total\":0");
        assertThat(waiting).isNotDone();
        Row row = Samples.row(1, "br-1", "trk_4k7vx9tz2nqr8w3", Row.Status.ACTIVE, null);
        written.put(TRACK, row, "Midnight City", 7);
        assertThat(waiting.join().body()).contains(TRACK);
        assertThat(get("/v1/search?q=city&ref=trk_4k7vx9tz2nqr8w3&at=" + event, 200))
                .contains(TRACK);

        Position refused = written.refuse(TRACK, row, Outcome.refused(Reason.STALE_EPOCH), 8);
        assertThat(get("/v1/search?ref=" + TRACK + "&wait=10s&at=" + refused, 409))
                .contains("\"STALE_EPOCH\"");
        assertThat(get("/v1/search?ref=" + TRACK + "&wait=1s&at=music-0-1", 400))
                .contains("foreign-token");
    }

    /** What is under way moves the ends of all partitions, as steady writes do, to where nobody reads yet. */
    @Test
    void anEventOfAWhileAgoIsAnsweredAtOnceWhileOthersAreWritten() throws Exception {
        start(Map.of());
        awaitReady();
        String bare = "soundcloud:tracks:2";
        Position searched = written.put(TRACK, Samples.active(1, "br-1"), "Midnight City", 1);
        Position unsearched = written.put(bare, Samples.active(2, "br-1"), null, 2);
        get("/v1/search?ref=" + TRACK + "&wait=20s&at=" + searched, 200);
        // Until the brokers were asked again, which they are once a second.
        await().during(Duration.ofSeconds(3))
                .atMost(Duration.ofSeconds(20))
                .until(() -> status(bare, unsearched) == 200);

        String late = "soundcloud:tracks:3";
        List<String> everywhere = new ArrayList<>(List.of(late));
        for (int i = 0; i < 50; i++) {
            everywhere.add("soundcloud:noise:" + i);
        }
        Runnable commit = written.begin(everywhere, 9);
        assertThat(status(TRACK, searched)).isEqualTo(200);
        assertThat(status(bare, unsearched)).isEqualTo(200);

        // Its row is there, and what there is of its document is not committed.
        Position unseen = written.refuse(late, Samples.active(3, "br-1"), Outcome.APPLIED, 3);
        await().atMost(Duration.ofSeconds(20)).until(() -> found("facets=false").contains(late));
        await().during(Duration.ofSeconds(3)).atMost(Duration.ofSeconds(10)).until(() -> status(late, unseen) == 504);
        commit.run();
        await().atMost(Duration.ofSeconds(20)).until(() -> status(late, unseen) == 200);
    }

    @Test
    void aTransactionThatHangsMakesItUnreadyAndIsNamedUntilItIsAborted() throws Exception {
        written.put(TRACK, Samples.active(1, "br-1"), "Midnight City", 1);
        start(Map.of());
        awaitReady();
        HangingTransaction left = HangingTransaction.leave(
                broker.bootstrapServers(), new TopicPartition(Topics.DOCUMENTS, 0), "puri-registry-left");

        SearchServer asked = server;
        await().atMost(Duration.ofSeconds(60)).until(() -> !asked.isReady());
        assertThat(get("/health/ready", 503))
                .contains("puri.documents.v1-0 cannot be read beyond offset")
                .contains("transactional id puri-registry-left")
                .contains("kafka-transactions.sh abort --topic puri.documents.v1 --partition 0");
        assertThat(found("q=midnight")).containsExactly(TRACK);

        left.abort();

        awaitReady();
        assertThat(get("/metrics", 200)).contains("puri_transactions_hanging 0.0");
    }

    private int status(String puri, Position event) throws Exception {
        return INSIDE.send(request("GET", "/v1/search?ref=" + puri + "&at=" + event))
                .statusCode();
    }

    @Test
    void aRestartGoesOnWhereItWas() {
        written.fill("soundcloud:tracks", 0, 100);
        start(Map.of());
        awaitReady();
        server.close();
        MemoryIndex before = home.serving();
        written.fill("soundcloud:tracks", 100, 110);

        start(Map.of());
        // It had all once: that is answered at once, and what came since as soon as it is read.
        await().atMost(Duration.ofSeconds(30)).until(() -> total("facets=false") == 110);
        assertThat(home.serving()).isSameAs(before);
        assertThat(get("/metrics", 200)).contains("puri_search_indexed_total{kind=\"document\"} 10.0");
    }

    @Test
    void topicsThatWereMadeAnewAreReadAnewBesideWhatAnswers() throws Exception {
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
    void anIndexOfOtherTopicsIsNotAnsweredFromAfterARestart() throws Exception {
        written.fill("soundcloud:tracks", 0, 50);
        start(Map.of());
        awaitReady();
        server.close();
        MemoryIndex before = home.serving();
        written.deleteTopics();
        written.createTopics();
        written.fill("soundcloud:users", 0, 20);

        start(Map.of());
        // First nobody knows better, then nothing is told, then what there is.
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
    void reindexingRemovesGhostsWhileSearchesAreAnswered() throws Exception {
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
    void whatAnInterruptedReindexingLeftIsGoneOnWith() throws Exception {
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
                .as("what came since, of both topics")
                .isEqualTo(20);
    }

    @Test
    void anIndexBesideThatFailsHarmsNoOtherAndIsGoneOnWith() throws Exception {
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
        await().atMost(Duration.ofSeconds(30))
                .until(() -> reindexing().path("state").asText().equals("done"));
        assertThat(home.serving()).isNotSameAs(before);
        assertThat(total("facets=false")).isEqualTo(110);
    }

    @Test
    void aReindexingIsGivenUpWhenItsIndexIsGone() throws Exception {
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
        await().atMost(Duration.ofSeconds(30))
                .until(() -> reindexing().path("state").asText().equals("ended"));
        assertThat(home.building()).isNull();
        assertThat(home.serving()).isSameAs(before);
        assertThat(total("facets=false")).isEqualTo(100);
    }

    @Test
    void whoGivesUpAReindexingAndAsksAgainGetsAnother() throws Exception {
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

        await().atMost(Duration.ofSeconds(30))
                .until(() -> reindexing().path("state").asText().equals("done"));
        assertThat(first.isClosed()).isTrue();
        assertThat(home.serving()).isNotSameAs(first);
    }

    private int ask(String method) throws Exception {
        return INSIDE.send(request(method, "/v1/search/reindex")).statusCode();
    }

    private JsonNode reindexing() throws IOException {
        return JSON.readTree(get("/v1/search/reindex", 200));
    }

    @Test
    void anIndexThatIsOpenedAnewUnderLoadIsGoneOnWith() throws Exception {
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
    void anIndexThatEndsWithABugIsNotDroppedWhenItIsOpenedAnew() {
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

    @Test
    void verifyingTellsEachPlantedDifferenceAndNoOther() throws Exception {
        written.fill("soundcloud:tracks", 0, 200);
        start(Map.of());
        awaitReady();
        assertThat(verify()).containsExactly("done 200 200 0");

        MemoryIndex index = home.serving();
        index.plant(change(EntryKind.IDENTITY, "soundcloud:tracks:7", null));
        index.plant(change(EntryKind.IDENTITY, "soundcloud:tracks:8", new Entry.OfIdentity(Samples.active(8, "br-9"))));
        index.plant(change(
                EntryKind.DOCUMENT,
                "ghost:in:index",
                new Entry.OfDocument(Samples.document(Samples.active(9, "br-9"), "boo"))));
        index.plant(change(
                EntryKind.DOCUMENT,
                "soundcloud:tracks:9",
                new Entry.OfDocument(Samples.document(Samples.active(9, "br-0"), "other"))));

        assertThat(verify())
                .containsExactlyInAnyOrder(
                        "soundcloud:tracks:7 identity missing []",
                        "soundcloud:tracks:8 identity differs [\"shard\",\"position\"]",
                        "ghost:in:index document ghost []",
                        "soundcloud:tracks:9 document differs [\"attributes\"]",
                        "done 200 200 4");
    }

    @Test
    void moreNamesThanMemoryHoldsAreNotVerified() {
        home.serving().claim(Long.MAX_VALUE / 2);
        start(Map.of());
        awaitReady();
        await().atMost(Duration.ofSeconds(10))
                .until(() -> !get("/v1/stats", 200).contains("\"identities\":0"));

        assertThat(get("/v1/search/verify", 503)).contains("too-many-to-verify", "half of the heap");
    }

    private List<String> verify() throws Exception {
        List<String> lines = new ArrayList<>();
        for (String line : get("/v1/search/verify", 200).split("\n", -1)) {
            if (!line.isEmpty()) {
                JsonNode json = JSON.readTree(line);
                lines.add(
                        json.has("done")
                                ? "done " + json.path("identities") + ' ' + json.path("documents") + ' '
                                        + (json.path("missing").asLong()
                                                + json.path("ghost").asLong()
                                                + json.path("differs").asLong()
                                                + json.path("unsettled").asLong())
                                : json.path("puri").asText()
                                        + ' '
                                        + json.path("kind").asText()
                                        + ' '
                                        + json.path("difference").asText()
                                        + ' '
                                        + (json.has("fields") ? json.path("fields") : "[]"));
            }
        }
        return lines;
    }

    @Test
    void whileTheEngineIsAwayNothingIsLost() {
        written.fill("soundcloud:tracks", 0, 10);
        start(Map.of("search.commit.interval", "100ms"));
        awaitReady();
        home.serving().setAway(true);
        written.fill("soundcloud:tracks", 10, 20);
        SearchServer asked = server;
        await().atMost(Duration.ofSeconds(10)).until(() -> !asked.isReady());
        assertThat(get("/v1/search", 503)).contains("the engine is away");

        home.serving().setAway(false);
        awaitReady();
        await().atMost(Duration.ofSeconds(20)).until(() -> total("facets=false") == 20);
    }

    @Test
    void whatWasErasedIsPurgedWithinItsTime() {
        written.put(TRACK, Samples.active(1, "br-1"), "Midnight City", 1);
        start(Map.of("search.forget.after", "2s"));
        awaitReady();
        assertThat(home.serving().purges()).isZero();

        written.put(TRACK, null, null, 2);

        await().atMost(Duration.ofSeconds(5)).until(() -> home.serving().purges() == 1);
    }

    @Test
    void aPurgeThatLastsKeepsNobodyWaitingAndItsIndexOpen() throws Exception {
        written.put(TRACK, Samples.active(1, "br-1"), "Midnight City", 1);
        start(Map.of("search.forget.after", "1s"));
        awaitReady();
        MemoryIndex before = home.serving();
        CompletableFuture<Boolean> purging = new CompletableFuture<>();
        before.setPurging(purging);
        written.put(TRACK, null, null, 2);
        await().atMost(Duration.ofSeconds(10)).until(() -> before.purgesBegun() == 1);

        assertThat(ask("POST")).isEqualTo(202);
        await().atMost(Duration.ofSeconds(20))
                .until(() -> reindexing().path("state").asText().equals("done"));
        written.fill("soundcloud:tracks", 5, 6);
        await().atMost(Duration.ofSeconds(10)).until(() -> total("q=n5") == 1);
        assertThat(home.serving()).isNotSameAs(before);
        assertThat(before.isClosed()).isFalse();
        purging.complete(true);
        await().atMost(Duration.ofSeconds(10)).until(before::isClosed);
    }

    @Test
    void aPurgeThatFailsIsTriedAgain() {
        written.put(TRACK, Samples.active(1, "br-1"), "Midnight City", 1);
        start(Map.of("search.forget.after", "1s"));
        awaitReady();
        home.serving().setPurging(CompletableFuture.completedFuture(false));
        written.put(TRACK, null, null, 2);
        await().atMost(Duration.ofSeconds(10)).until(() -> home.serving().purgesBegun() == 1);
        home.serving().setPurging(CompletableFuture.completedFuture(true));

        await().atMost(Duration.ofSeconds(30)).until(() -> home.serving().purges() == 1);
    }

    @Test
    void whatNobodyHadIsNotPurged() {
        written.put(TRACK, Samples.active(1, "br-1"), "Midnight City", 1);
        start(Map.of("search.forget.after", "1s"));
        awaitReady();
        Outcome refused = Outcome.refused(Reason.STALE_EPOCH);
        written.refuse("soundcloud:tracks:404", null, refused, 2);
        written.put("puri:marker:0", null, null, 3);
        await().during(Duration.ofSeconds(2))
                .atMost(Duration.ofSeconds(10))
                .until(() -> home.serving().purgesBegun() == 0);

        // As compaction leaves it of a name that was erased.
        written.refuse(TRACK, null, refused, 4);
        await().atMost(Duration.ofSeconds(10)).until(() -> home.serving().purges() == 1);
    }

    private static IndexChange change(EntryKind kind, String puri, Entry entry) {
        return new IndexChange(kind, 0, 0, Puri.parse(puri), entry);
    }

    private long total(String query) {
        try {
            return JSON.readTree(get("/v1/search?" + query, 200)).path("total").asLong();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private List<String> found(String query) throws IOException {
        List<String> puris = new ArrayList<>();
        JSON.readTree(get("/v1/search?" + query, 200))
                .path("results")
                .forEach(hit -> puris.add(hit.path("puri").asText()));
        return puris;
    }

    private String get(String path, int status) {
        try {
            HttpResponse<String> response = INSIDE.send(request("GET", path));
            assertThat(response.statusCode()).as(path + ": " + response.body()).isEqualTo(status);
            return response.body();
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(path, e);
        }
    }

    private HttpRequest request(String method, String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build();
    }
}

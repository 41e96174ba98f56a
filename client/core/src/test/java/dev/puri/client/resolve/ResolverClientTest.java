package dev.puri.client.resolve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.puri.client.resolve.ResolverException.Kind;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Position;
import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class ResolverClientTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Position TOKEN = new Position("puri.events.v1", 0, 7);
    private static final String NAME = "music:tracks:1";

    private final FakeResolver first = new FakeResolver();
    private final FakeResolver second = new FakeResolver();

    @AfterEach
    void stop() {
        first.close();
        second.close();
    }

    private ResolverOptions.Builder one() {
        return ResolverOptions.at(first.url()).deadline(LONG);
    }

    private ResolverOptions.Builder both() {
        return ResolverOptions.at(first.url(), second.url()).deadline(LONG);
    }

    private static ResolverClient open(ResolverOptions.Builder options) {
        return ResolverClient.open(options.build());
    }

    private static void assertFails(CompletableFuture<?> answer, Kind kind, String message) {
        assertThatThrownBy(() -> answer.get(60, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOfSatisfying(
                        ResolverException.class,
                        e -> assertThat(e.kind()).as(e.toString()).isEqualTo(kind))
                .hasMessageContaining(message);
    }

    private static CompletableFuture<Verdict> ask(ResolverClient client, String ref) {
        return client.resolveAsync(Ref.of(ref), Duration.ZERO).toCompletableFuture();
    }

    @Test
    void everyVerdictIsReadWithItsTypes() {
        first.resolving((exchange, request) ->
                FakeResolver.send(exchange, 200, """
                {"results":[
                {"ref":"m:t:1","verdict":"found","puri":"m:t:1","handle":"trk_4k7vx9tz2nqr8w3","owner":"catalog",
                 "shard":"br-1","uuid":"%1$s","status":"active","epoch":3,%2$s,"later":[1]},
                {"ref":"m:t:2","verdict":"merged","puri":"m:t:2","canonical":"m:t:1","owner":"catalog","shard":"br-1",
                 "uuid":"%1$s","status":"merged","epoch":2,%2$s},
                {"ref":"m:t:3","verdict":"merged","puri":"m:t:3","status":"merged","epoch":2,%2$s,"detail":"a cycle"},
                {"ref":"m:t:4","verdict":"deleted","puri":"m:t:4","canonical":"m:t:1","status":"merged","epoch":2,%2$s},
                {"ref":"m:t:5","verdict":"unknown","puri":"m:t:5"},
                {"ref":"m:t:6","verdict":"not-caught-up","puri":"m:t:6","at":"0-7","detail":"later"},
                {"ref":"m:t:7","verdict":"refused","puri":"m:t:7","at":"0-7","reason":"PURI_TAKEN","detail":"taken",
                 "holder":{"owner":"catalog","shard":"eu-1"},"survivor":"m:t:1"},
                {"ref":"m:t:8","verdict":"malformed","detail":"The token is of another object."},
                {"ref":"m:t:9","verdict":"unknown","puri":"m:t:9","importing":true}]}
                """.formatted(FakeResolver.UUID, FakeResolver.TIMES)));
        List<Ref> refs = new ArrayList<>();
        for (int i = 1; i <= 9; i++) {
            Ref ref = Ref.of("M:T:" + i);
            refs.add(i >= 6 ? ref.at(TOKEN) : ref);
        }
        Placement placement =
                new Placement(new Owner("catalog"), new Shard("br-1"), UUID.fromString(FakeResolver.UUID));
        Instant created = Instant.parse("2026-11-20T00:00:00Z");
        Instant changed = Instant.parse("2026-11-21T00:00:00Z");
        Puri one = Puri.parse("m:t:1");
        try (ResolverClient client = open(one())) {
            assertThat(client.resolveAll(refs, Duration.ofSeconds(2)))
                    .containsExactly(
                            new Verdict.Found(one, new Handle("trk_4k7vx9tz2nqr8w3"), placement, 3, created, changed),
                            new Verdict.Merged(Puri.parse("m:t:2"), null, one, placement, 2, created, changed, null),
                            new Verdict.Merged(Puri.parse("m:t:3"), null, null, null, 2, created, changed, "a cycle"),
                            new Verdict.Deleted(Puri.parse("m:t:4"), null, one, 2, created, changed),
                            new Verdict.Unknown(refs.get(4)),
                            new Verdict.NotCaughtUp(refs.get(5)),
                            new Verdict.Refused(
                                    refs.get(6), "PURI_TAKEN", "taken", new Owner("catalog"), new Shard("eu-1"), one),
                            new Verdict.Malformed(refs.get(7), "The token is of another object."),
                            new Verdict.Unknown(refs.get(8), true));
        }
        assertThat(askedWaitMillis()).isBetween(1L, 2000L);
        assertThat(first.asked.get(0).toString())
                .startsWith("{\"refs\":[\"m:t:1\",\"m:t:2\"")
                .contains("{\"ref\":\"m:t:7\",\"at\":\"0-7\"}");
    }

    @Test
    void aMalformedReferenceNeedsNoRequestAndAffectsNoOther() {
        try (ResolverClient client = open(one())) {
            List<Verdict> verdicts = client.resolveAll(Ref.all(List.of("no name", NAME, "trk_0")));
            assertThat(verdicts.get(0))
                    .isInstanceOfSatisfying(
                            Verdict.Malformed.class,
                            malformed -> assertThat(malformed.detail()).contains("\"no name\""));
            assertThat(verdicts.get(1)).isInstanceOf(Verdict.Found.class);
            assertThat(verdicts.get(2)).isInstanceOf(Verdict.Malformed.class);
            assertThat(first.asked).hasSize(1);
            assertThat(first.asked.get(0).get("refs")).hasSize(1);
        }
    }

    @Test
    void aListLongerThanABatchIsSplitAndKeepsItsOrder() {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < 25; i++) {
            names.add("music:tracks:" + i);
        }
        try (ResolverClient client = open(one().maxBatch(10))) {
            List<Verdict> verdicts = client.resolveAll(Ref.all(names));
            assertThat(verdicts)
                    .map(verdict -> ((Verdict.Found) verdict).puri().toString())
                    .isEqualTo(names);
            assertThat(first.asked).hasSize(3);
        }
    }

    @Test
    void lookUpsDuringARequestAreJoinedAndEqualOnesAreSentOnce() throws Exception {
        CountDownLatch firstAsked = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        first.resolving((exchange, request) -> {
            firstAsked.countDown();
            goOn.await(60, TimeUnit.SECONDS);
            first.answerFound(exchange, request);
        });
        try (ResolverClient client = open(one().maxJoinedRequests(1).maxBatch(5))) {
            List<CompletableFuture<Verdict>> answers = new ArrayList<>();
            answers.add(ask(client, "music:tracks:first"));
            assertThat(firstAsked.await(60, TimeUnit.SECONDS)).isTrue();
            for (int i = 0; i < 14; i++) {
                answers.add(ask(client, "music:tracks:" + i / 2));
            }
            goOn.countDown();
            for (int i = 0; i < 14; i++) {
                Verdict.Found found = (Verdict.Found) answers.get(i + 1).get(60, TimeUnit.SECONDS);
                assertThat(found.puri()).hasToString("music:tracks:" + i / 2);
            }
            assertThat(first.asked).map(request -> request.get("refs").size()).containsExactly(1, 5, 2);
        }
    }

    @Test
    void aLookUpWithATokenIsNotJoined() {
        try (ResolverClient client = open(one())) {
            client.resolve(Ref.of(NAME).at(TOKEN), Duration.ofMillis(1500));
            assertThat(first.asked.get(0).toString())
                    .isEqualTo("{\"refs\":[{\"ref\":\"music:tracks:1\",\"at\":\"0-7\"}]}");
            assertThat(askedWaitMillis()).isBetween(1L, 1500L);
        }
    }

    @Test
    void aListWithoutTokensIsSentWithoutItsWait() {
        try (ResolverClient client = open(one().maxBatch(2))) {
            client.resolveAll(List.of(Ref.of(NAME), Ref.of("music:tracks:2")), Duration.ofSeconds(20));
            assertThat(first.queries).containsExactly("null");

            client.resolveAll(
                    List.of(Ref.of(NAME), Ref.of("music:tracks:2"), Ref.of(NAME).at(TOKEN)), Duration.ofSeconds(20));
            assertThat(first.queries)
                    .hasSize(3)
                    .filteredOn(query -> query.startsWith("wait="))
                    .hasSize(1);
        }
    }

    @Test
    void aWaitBeyondTheLimitOfARequestIsSplitIntoSeveral() {
        first.resolving((exchange, request) -> FakeResolver.send(
                exchange, 200, "{\"results\":[{\"ref\":\"music:tracks:1\",\"verdict\":\"not-caught-up\"}]}"));
        try (ResolverClient client = open(one().maxWait(Duration.ofSeconds(20)))) {
            assertThat(client.resolve(Ref.of(NAME).at(TOKEN), Duration.ofSeconds(50)))
                    .isInstanceOf(Verdict.NotCaughtUp.class);
        }
        assertThat(first.queries).hasSize(3);
        assertThat(first.queries).allMatch(query -> Long.parseLong(query.replaceAll("\\D", "")) <= 20_000);
    }

    @Test
    void noFurtherRequestIsSentAfterTheEndOfALongWait() {
        Duration wait = Duration.ofMillis(600);
        first.resolving((exchange, request) -> {
            long begun = System.nanoTime();
            await().until(() -> System.nanoTime() - begun > wait.toNanos());
            FakeResolver.send(
                    exchange, 200, "{\"results\":[{\"ref\":\"music:tracks:1\",\"verdict\":\"not-caught-up\"}]}");
        });
        try (ResolverClient client = open(one().maxWait(Duration.ofMillis(500)))) {
            assertThat(client.resolve(Ref.of(NAME).at(TOKEN), wait)).isInstanceOf(Verdict.NotCaughtUp.class);
        }
        assertThat(first.queries).hasSize(1);
    }

    /** The wait of the only request, which is the rest of the caller's wait when it was sent. */
    private long askedWaitMillis() {
        assertThat(first.queries).singleElement().asString().matches("wait=\\d+ms");
        return Long.parseLong(first.queries.get(0).replaceAll("\\D", ""));
    }

    @Test
    void triesTheNextAddressAfterAnErrorResponse() {
        first.resolving((exchange, request) -> FakeResolver.send(exchange, 503, "{\"title\":\"not complete\"}"));
        try (ResolverClient client = open(both())) {
            assertThat(client.resolve(NAME)).isInstanceOf(Verdict.Found.class);
            assertThat(client.requestStatistics().failedOver()).isEqualTo(1);
            assertThat(first.asked).hasSize(1);
        }
    }

    @Test
    void triesTheNextAddressAfterAnUnreachableOne() throws IOException {
        int free;
        try (ServerSocket socket = new ServerSocket(0)) {
            free = socket.getLocalPort();
        }
        try (ResolverClient client = open(
                ResolverOptions.at("http://127.0.0.1:" + free, second.url()).deadline(LONG))) {
            assertThat(client.resolve(NAME)).isInstanceOf(Verdict.Found.class);
            assertThat(client.resolve(NAME)).isInstanceOf(Verdict.Found.class);
        }
    }

    @Test
    void triesTheNextAddressAfterAResponseThatIsNoResolvers() {
        List<String> answers = List.of(
                "",
                "<html>",
                "{}",
                "{\"results\":[]}",
                "{\"results\":[{\"ref\":\"music:tracks:other\",\"verdict\":\"unknown\"}]}",
                "{\"results\":[{\"ref\":\"music:tracks:1\",\"verdict\":\"perhaps\"}]}",
                "{\"results\":[{\"ref\":\"music:tracks:1\",\"verdict\":\"found\",\"puri\":\"music:tracks:1\"}]}",
                "{\"results\":[" + FakeResolver.found(NAME, "a b") + "]}",
                "{\"results\":[" + FakeResolver.found(NAME, "br-1").put("createdAt", "soon") + "]}",
                "[" + " ".repeat(2 << 20) + "]");
        for (String answer : answers) {
            first.resolving((exchange, request) -> FakeResolver.send(exchange, 200, answer));
            try (ResolverClient client = open(both())) {
                assertThat(client.resolve(NAME)).as(answer.strip()).isInstanceOf(Verdict.Found.class);
                assertThat(client.requestStatistics().failedOver()).isEqualTo(1);
            }
            try (ResolverClient client = open(one())) {
                assertThatThrownBy(() -> client.resolve(NAME)).isInstanceOf(ResolverException.class);
            }
        }
    }

    @Test
    void anEndlessResponseIsCutOffAndReported() {
        first.resolving((exchange, request) -> {
            exchange.sendResponseHeaders(200, 0);
            byte[] piece = new byte[8192];
            while (true) {
                exchange.getResponseBody().write(piece);
            }
        });
        try (ResolverClient client = open(one())) {
            assertFails(ask(client, NAME), Kind.UNREACHABLE, "is the server a resolver?");
        }
    }

    @Test
    void errorListsEveryFailedAddressAndItsFailure() {
        first.resolving((exchange, request) -> FakeResolver.send(exchange, 503, "not complete"));
        second.resolving((exchange, request) -> FakeResolver.send(exchange, 502, "bad gateway"));
        try (ResolverClient client = open(both())) {
            assertFails(
                    ask(client, NAME),
                    Kind.UNAVAILABLE,
                    first.url() + ": 503 not complete; " + second.url() + ": 502 bad gateway");
        }
    }

    @Test
    void aRequestThatIsWrongIsNotSentElsewhere() {
        first.resolving((exchange, request) -> FakeResolver.send(exchange, 401, "who are you?"));
        try (ResolverClient client = open(both().token("secret"))) {
            assertFails(ask(client, NAME), Kind.REJECTED, "401 who are you?");
            assertThat(second.asked).isEmpty();
        }
    }

    /** A server may close an idle connection just when it is used again. */
    @Test
    void aSingleAddressIsRetriedOnceAfterABrokenConnection() {
        AtomicInteger times = new AtomicInteger();
        first.resolving((exchange, request) -> {
            if (times.incrementAndGet() == 1) {
                exchange.close();
            } else {
                first.answerFound(exchange, request);
            }
        });
        try (ResolverClient client = open(one())) {
            assertThat(client.resolve(NAME)).isInstanceOf(Verdict.Found.class);
            assertThat(times).hasValue(2);
        }
    }

    @Test
    void aSilentAddressIsHedgedAndTheFirstAnswerWins() {
        first.resolving(first::hang);
        try (ResolverClient client = open(both().hedgeAfter(Duration.ofMillis(1)))) {
            assertThat(client.resolve(NAME)).isInstanceOf(Verdict.Found.class);
            assertThat(client.requestStatistics().hedged()).isEqualTo(1);
            assertThat(client.requestStatistics().failedOver()).isZero();
        }
    }

    @Test
    void aSilentAddressWithoutHedgingLeavesTimeForTheNext() {
        first.resolving(first::hang);
        try (ResolverClient client = open(both().deadline(Duration.ofSeconds(2)))) {
            assertThat(client.resolve(NAME)).isInstanceOf(Verdict.Found.class);
            assertThat(client.requestStatistics().failedOver()).isEqualTo(1);
        }
    }

    @Test
    void hedgesAreBoundedByAShareOfRequests() {
        HedgeBudget budget = new HedgeBudget(0.25);
        assertThat(budget.take()).isTrue();
        int taken = 0;
        for (int i = 0; i < 100; i++) {
            budget.requestSent();
            taken += budget.take() ? 1 : 0;
        }
        assertThat(taken).isEqualTo(25);
        for (int i = 0; i < 1000; i++) {
            budget.requestSent();
        }
        taken = 0;
        while (budget.take()) {
            taken++;
        }
        assertThat(taken).as("a quiet time is not saved up for ever").isEqualTo(10);
    }

    @Test
    void theDeadlineEndsALookUp() {
        first.resolving(first::hang);
        try (ResolverClient client = open(one().deadline(Duration.ofMillis(50)))) {
            assertFails(ask(client, NAME), Kind.DEADLINE, "within 50 ms");
            assertFails(
                    client.resolveAllAsync(Ref.all(List.of(NAME)), Duration.ZERO)
                            .toCompletableFuture(),
                    Kind.DEADLINE,
                    "within 50 ms");
            await().atMost(LONG).until(() -> client.requestStatistics().pending() == 0);
        }
    }

    @Test
    void lookUpsBeyondTheBoundFailAndNameTheBound() throws Exception {
        CountDownLatch goOn = new CountDownLatch(1);
        first.resolving((exchange, request) -> {
            goOn.await(60, TimeUnit.SECONDS);
            first.answerFound(exchange, request);
        });
        try (ResolverClient client = open(one().maxPending(2))) {
            CompletableFuture<Verdict> one = ask(client, "m:t:1");
            CompletableFuture<Verdict> two = ask(client, "m:t:2");
            assertFails(ask(client, "m:t:3"), Kind.FULL, "at most 2 may be pending (maxPending)");
            goOn.countDown();
            CompletableFuture.allOf(one, two).get(60, TimeUnit.SECONDS);
            await().atMost(LONG).until(() -> client.requestStatistics().pending() == 0);
            assertThat(client.resolve("m:t:3")).isInstanceOf(Verdict.Found.class);
        }
    }

    @Test
    void closingFailsInFlightRequestsAndLeavesNoThread() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        first.resolving((exchange, request) -> {
            asked.countDown();
            first.hang(exchange, request);
        });
        Set<Thread> before = clientThreads();
        ResolverClient client = open(one().cacheSize(10));
        CompletableFuture<Verdict> answer = ask(client, NAME);
        assertThat(asked.await(60, TimeUnit.SECONDS)).isTrue();
        first.stream();
        Set<Thread> ours = clientThreads();
        ours.removeAll(before);
        assertThat(ours).hasSize(2);

        client.close();
        assertFails(answer, Kind.CLOSED, "closed");
        assertFails(ask(client, NAME), Kind.CLOSED, "closed");
        for (Thread each : ours) {
            each.join(60_000);
            assertThat(each.isAlive()).as(each.getName()).isFalse();
        }
    }

    /** The selector threads and our timer; other threads belong to pools and end by themselves. */
    private static Set<Thread> clientThreads() {
        Set<Thread> threads = new HashSet<>(Thread.getAllStackTraces().keySet());
        threads.removeIf(thread -> !thread.getName().matches("HttpClient-\\d+-SelectorManager|puri-resolver-client"));
        return threads;
    }

    @Test
    void theTokenIsSentAndNotPrinted() throws Exception {
        CompletableFuture<String> sent = new CompletableFuture<>();
        first.resolving((exchange, request) -> {
            sent.complete(exchange.getRequestHeaders().getFirst("Authorization"));
            first.answerFound(exchange, request);
        });
        ResolverOptions.Builder options = one().token("s3cret");
        assertThat(options.build().toString()).doesNotContain("s3cret");
        try (ResolverClient client = open(options)) {
            client.resolve(NAME);
        }
        assertThat(sent.get(60, TimeUnit.SECONDS)).isEqualTo("Bearer s3cret");
    }

    @Test
    void aTokenThatNoHeaderCanHaveIsRefusedAndNotPrinted() {
        for (String token : List.of("s3cret\n", "s3 cret", "s3cret\u0000", "s3crét")) {
            assertThatThrownBy(() -> one().token(token).build())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("token: ")
                    .hasMessageNotContaining("s3");
        }
    }

    @Test
    void mistakesInOptionsAreListedTogether() {
        assertThatThrownBy(() -> ResolverOptions.at("ftp://x", "http://a:1/", "http://a:1")
                        .deadline(Duration.ZERO)
                        .maxBatch(0)
                        .maxPending(0)
                        .hedgeShare(2)
                        .cacheSize(-1)
                        .replicaLag(Duration.ZERO)
                        .build())
                .isInstanceOf(IllegalArgumentException.class)
                .message()
                .contains("ftp://x", "contains a duplicate", "deadline", "maxBatch: 0", "maxPending: 0")
                .contains("hedgeShare: 2", "cacheSize: -1", "replicaLag: PT0S");
        assertThatThrownBy(() -> one().hedgeAfter(Duration.ofMillis(5)).build())
                .hasMessageContaining("needs a second address");
    }

    @Test
    void aResultIsReadDespiteUnknownFields() {
        ArrayNode results = new ObjectMapper().createArrayNode();
        JsonNode extra = FakeResolver.found(NAME, "br-1").put("unheardOf", true);
        results.add(extra);
        first.resolving((exchange, request) -> FakeResolver.send(exchange, 200, FakeResolver.results(results)));
        try (ResolverClient client = open(one())) {
            assertThat(client.resolve(NAME)).isInstanceOf(Verdict.Found.class);
        }
    }
}

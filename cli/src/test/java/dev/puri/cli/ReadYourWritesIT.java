package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.uuid.Generators;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.PublishOutcome;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests requests to the resolver with the token that a publish returned. */
@Timeout(120)
final class ReadYourWritesIT {
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private static Path data;

    private static EmbeddedStack stack;
    private static IdentityPublisher publisher;
    private static HttpClient client;

    @BeforeAll
    static void start() {
        stack = EmbeddedStack.start(EmbeddedStack.Options.onFreePorts(data), step -> {});
        publisher = new IdentityPublisher(Map.of(
                "bootstrap.servers",
                stack.bootstrapServers(),
                "schema.registry.url",
                stack.schemaRegistryUrl(),
                IdentityPublisher.RESOLVER_URL,
                stack.resolverUrl() + "/"));
        client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    }

    @AfterAll
    static void stop() {
        publisher.close();
        stack.close();
        client.shutdownNow();
    }

    @Test
    void aPublishedEventIsVisibleToItsToken() throws Exception {
        for (int i = 0; i < 50; i++) {
            Position token = publish("writes:tracks:" + i, created("br-" + i));

            HttpResponse<String> answer = get("/v1/identities/writes:tracks:" + i + "?wait=20s&at=" + token);

            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
            assertThat(JSON.readTree(answer.body()).get("shard").asText()).isEqualTo("br-" + i);
        }
    }

    @Test
    void aRefusedClaimNamesTheHolderAndARepeatedEventIsVisible() throws Exception {
        Change first = created("br-1");
        publish("writes:tracks:taken", first);
        Position lost = publish("writes:tracks:taken", created("eu-1"));
        Position repeated = publish("writes:tracks:taken", first);

        HttpResponse<String> refused = get("/v1/identities/writes:tracks:taken?wait=20s&at=" + lost);
        assertThat(refused.statusCode()).as(refused.body()).isEqualTo(409);
        JsonNode refusal = JSON.readTree(refused.body());
        assertThat(refusal.get("reason").asText()).isEqualTo("PURI_TAKEN");
        assertThat(refusal.get("holder").get("shard").asText()).isEqualTo("br-1");

        HttpResponse<String> seen = get("/v1/identities/writes:tracks:taken?wait=20s&at=" + repeated);
        assertThat(seen.statusCode()).as(seen.body()).isEqualTo(200);
        assertThat(get("/v1/rejections?position=" + lost).body()).contains("\"writes:tracks:taken\"");
    }

    @Test
    void aPublisherAwaitsTheOutcomesOfItsEvents() throws Exception {
        Puri puri = Puri.parse("writes:tracks:a%2Fb");
        Position first = publish(puri.toString(), created("br-1"));
        Position lost = publish(puri.toString(), created("eu-1"));
        Position never = new Position(first.topic(), first.partition(), first.offset() + 1_000_000);

        assertThat(outcome(puri, first, Duration.ofSeconds(20))).isEqualTo(new PublishOutcome.Accepted());
        assertThat(outcome(puri, lost, Duration.ofSeconds(20)))
                .isInstanceOfSatisfying(PublishOutcome.Refused.PuriTaken.class, taken -> {
                    assertThat(taken.holderOwner()).isEqualTo(new Owner("catalog"));
                    assertThat(taken.holderShard()).isEqualTo(new Shard("br-1"));
                });
        assertThat(outcome(puri, never, Duration.ofMillis(100))).isEqualTo(new PublishOutcome.NotCaughtUp());
    }

    private static PublishOutcome outcome(Puri puri, Position token, Duration wait) throws Exception {
        return publisher.awaitSync(puri, token, wait);
    }

    @Test
    void anErasureIsVisibleToItsToken() throws Exception {
        publish("writes:tracks:erased", created("br-1"));
        Position token = publish("writes:tracks:erased", new Change.Erased());

        assertThat(get("/v1/identities/writes:tracks:erased?wait=20s&at=" + token)
                        .statusCode())
                .isEqualTo(404);
    }

    @Test
    void changesAreStreamedAndCanBeResumed() throws Exception {
        String id;
        try (FollowedChanges changes = new FollowedChanges(null)) {
            await().until(() -> !changes.lines.isEmpty());
            publish("changes:tracks:1", created("br-1"));
            await().until(() -> changes.lines.stream().anyMatch(line -> line.contains("\"changes:tracks:1\"")));
            id = changes.lastId();
        }
        publish("changes:tracks:2", created("br-2"));

        FollowedChanges more = new FollowedChanges(id);
        try (more) {
            await().until(() -> more.lines.stream().anyMatch(line -> line.contains("\"changes:tracks:2\"")));
        }
        assertThat(more.lines).noneMatch(line -> line.contains("\"changes:tracks:1\""));
    }

    @Test
    void nothingOfAnErasedIdentityIsReported() throws Exception {
        String puri = "changes:tracks:erin";
        String id;
        try (FollowedChanges before = new FollowedChanges(null)) {
            await().until(() -> before.lines.stream().anyMatch(line -> line.startsWith("id:")));
            id = before.lastId();
        }
        publish(puri, created("erins-shard"));
        Position refused = publish(puri, created("erins-other-shard"));
        assertThat(get("/v1/identities/" + puri + "?wait=20s&at=" + refused).statusCode())
                .isEqualTo(409);
        assertThat(get("/v1/rejections?puri=" + puri).body()).contains("PURI_TAKEN", "erins-shard");

        Position erased = publish(puri, new Change.Erased());

        assertThat(get("/v1/identities/" + puri + "?wait=20s&at=" + erased).statusCode())
                .isEqualTo(404);
        assertThat(get("/v1/rejections?puri=" + puri).body()).doesNotContain("erin");
        assertThat(get("/v1/stats").body()).doesNotContain("erins-shard");
        FollowedChanges after = new FollowedChanges(id);
        try (after) {
            await().until(() -> after.lines.contains("data: {\"puri\":\"" + puri + "\"}"));
        }
        assertThat(after.lines).noneMatch(line -> line.contains("erins-shard"));
    }

    @Test
    void statisticsCountTheRowsOfTheTable() throws Exception {
        Position token = publish("counted:tracks:1", created("br-counted"));
        get("/v1/identities/counted:tracks:1?wait=20s&at=" + token);

        JsonNode stats = JSON.readTree(get("/v1/stats").body());

        assertThat(stats.get("byShard").toString()).contains("{\"name\":\"br-counted\",\"rows\":1}");
        assertThat(get("/v1/collections").statusCode()).isEqualTo(200);
    }

    private static Change created(String shard) {
        UUID uuid = Generators.timeBasedEpochGenerator().generate();
        return new Change.Created(uuid, new Owner("catalog"), new Shard(shard), null, Map.of());
    }

    private static Position publish(String puri, Change change) throws Exception {
        UUID id = Generators.timeBasedEpochGenerator().generate();
        return publisher
                .publish(new Event(id, Puri.parse(puri), Instant.now(), "test", null, null, change))
                .toCompletableFuture()
                .get();
    }

    private static HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return client.send(
                HttpRequest.newBuilder(URI.create(stack.resolverUrl() + path))
                        .timeout(Duration.ofSeconds(60))
                        .build(),
                BodyHandlers.ofString());
    }

    /** The lines of {@code GET /v1/changes} since a request. Closing it ends the request. */
    private static final class FollowedChanges implements AutoCloseable {
        private final Queue<String> lines = new ConcurrentLinkedQueue<>();
        private final CompletableFuture<HttpResponse<Void>> response;

        FollowedChanges(@Nullable String lastId) {
            HttpRequest.Builder request =
                    HttpRequest.newBuilder(URI.create(stack.resolverUrl() + "/v1/changes?collection=changes:tracks"));
            if (lastId != null) {
                request.header("Last-Event-ID", lastId);
            }
            response = client.sendAsync(request.build(), BodyHandlers.fromLineSubscriber(new LineSubscriber(lines)));
        }

        String lastId() {
            return lines.stream()
                    .filter(line -> line.startsWith("id:"))
                    .reduce((before, last) -> last)
                    .orElseThrow()
                    .substring(3)
                    .strip();
        }

        @Override
        public void close() {
            response.cancel(true);
        }
    }

    private record LineSubscriber(Queue<String> lines) implements Flow.Subscriber<String> {
        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(String line) {
            lines.add(line);
        }

        @Override
        public void onError(Throwable error) {
            // The test closes the stream, or fails because a line does not come.
        }

        @Override
        public void onComplete() {}
    }
}

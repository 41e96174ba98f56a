package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.testkit.Broker;
import dev.puri.testkit.Contract;
import dev.puri.testkit.SchemaRegistryFixture;
import dev.puri.testkit.ServerProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server with Lucene that is killed at random times neither loses nor duplicates entries. */
@Timeout(300)
final class SearchKillIT {
    private static final Pattern LISTENS = Pattern.compile("Search indexer listens on 127\\.0\\.0\\.1:(\\d+)");
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final Contract INTERNAL_API = new Contract(CLIENT, "/openapi-search.json");
    private static final int KILLS = 5;
    private static final int NAMES_PER_KILL = 4_000;

    @TempDir
    private Path folder;

    private final Broker broker = Broker.shared();
    private final SchemaRegistryFixture registry = SchemaRegistryFixture.shared();
    private final TopicWriter topics = new TopicWriter(broker.bootstrapServers(), registry.url());
    private @Nullable ServerProcess running;

    @BeforeEach
    void createTopics() throws Exception {
        topics.createTopics();
    }

    @AfterEach
    void stop() throws Exception {
        ServerProcess server = running;
        if (server != null) {
            server.kill();
        }
        topics.deleteTopics();
        topics.close();
    }

    @Test
    void killsNeitherLoseNorDuplicateEntries() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int kill = 0; kill < KILLS; kill++) {
            topics.fill("soundcloud:tracks", kill * NAMES_PER_KILL, (kill + 1) * NAMES_PER_KILL);
            // An erasure and an update show whether a tombstone or an update is lost.
            topics.put("soundcloud:tracks:" + kill * NAMES_PER_KILL, null, null, 1);
            topics.put(
                    "soundcloud:tracks:" + (kill * NAMES_PER_KILL + 1),
                    Samples.active(1, "br-9"),
                    "described again",
                    2);
            ServerProcess server = start();
            if (kill % 2 == 1) {
                await().atMost(Duration.ofSeconds(60)).until(() -> ask(server, "POST", "/v1/search/reindex") == 202);
            }
            server.runFor(Duration.ofMillis(50 + random.nextInt(1_500)));
            server.kill();
        }

        ServerProcess last = start();
        await().atMost(Duration.ofSeconds(60)).until(() -> ask(last, "GET", "/health/ready") == 200);
        int expected = KILLS * NAMES_PER_KILL - KILLS;
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(
                        () -> assertThat(total(last, "")).as("seed %d", seed).isEqualTo(expected));
        assertThat(total(last, "q=number")).isEqualTo(expected - KILLS);
        assertThat(total(last, "q=described")).isEqualTo(KILLS);
        assertThat(total(last, "shard=br-9")).isEqualTo(KILLS);
        String verified = body(last, "GET", "/v1/search/verify");
        JsonNode verdict = JSON.readTree(verified.substring(verified.lastIndexOf('\n', verified.length() - 2) + 1));
        assertThat(verdict.path("done").asBoolean()).as(verified).isTrue();
        assertThat(verdict.path("identities").asInt()).isEqualTo(expected);
        assertThat(verdict.path("missing").asInt()
                        + verdict.path("ghost").asInt()
                        + verdict.path("differs").asInt()
                        + verdict.path("unsettled").asInt())
                .as("seed %d: %s", seed, verified)
                .isZero();
    }

    private ServerProcess start() throws IOException {
        Map<String, String> settings = new HashMap<>();
        settings.put("PURI_BOOTSTRAP_SERVER", broker.bootstrapServers());
        settings.put("PURI_SCHEMA_REGISTRY", registry.url());
        settings.put("PURI_HTTP_PORT", "0");
        settings.put("PURI_STATE_DIR", folder.resolve("state").toString());
        settings.put("PURI_SEARCH_COMMIT_INTERVAL", "150ms");
        settings.put("PURI_SEARCH_FORGET_AFTER", "1s");
        ServerProcess started = ServerProcess.start(SearchChild.class, settings, folder);
        running = started;
        started.awaitSaid(LISTENS);
        return started;
    }

    /** Returns the exact total, which only searches with facets have. */
    private static long total(ServerProcess server, String query) throws Exception {
        return JSON.readTree(body(server, "GET", "/v1/search?facets=true&limit=1&" + query))
                .path("total")
                .asLong();
    }

    private static int ask(ServerProcess server, String method, String path) throws Exception {
        return send(server, method, path).statusCode();
    }

    private static String body(ServerProcess server, String method, String path) throws Exception {
        HttpResponse<String> response = send(server, method, path);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return response.body();
    }

    private static HttpResponse<String> send(ServerProcess server, String method, String path) throws Exception {
        String port = server.awaitSaid(LISTENS).group(1);
        return INTERNAL_API.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path.replaceFirst("&$", "")))
                        .method(method, HttpRequest.BodyPublishers.noBody())
                        .build());
    }
}

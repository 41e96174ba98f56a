package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.schemas.log.Position;
import dev.puri.settings.Settings;
import dev.puri.testkit.Broker;
import dev.puri.testkit.Contract;
import dev.puri.testkit.OpenSearchFixture;
import dev.puri.testkit.RestartableOpenSearch;
import dev.puri.testkit.SchemaRegistryFixture;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server whose index is in a real OpenSearch node. */
@Timeout(600)
final class OpenSearchServerIT {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final Contract INTERNAL_API = new Contract(CLIENT, "/openapi-search.json");

    private final Broker broker = Broker.shared();
    private final SchemaRegistryFixture registry = SchemaRegistryFixture.shared();

    @Test
    void anOutageLosesNothingAndReindexingMovesTheAlias(@TempDir Path folder) throws Exception {
        try (TopicWriter topics = new TopicWriter(broker.bootstrapServers(), registry.url());
                RestartableOpenSearch node = OpenSearchFixture.start()) {
            topics.createTopics();
            try (SearchServer server = server(node, folder)) {
                topics.fill("soundcloud:tracks", 0, 300);
                await().atMost(Duration.ofSeconds(60)).until(() -> total(server, "q=number") == 300);
                await().atMost(Duration.ofSeconds(60)).until(server::isReady);

                node.stop();
                topics.fill("soundcloud:tracks", 300, 600);
                topics.put("soundcloud:tracks:7", null, null, 9000);
                await().atMost(Duration.ofSeconds(60)).until(() -> !server.isReady());
                assertThat(send(server, "GET", "/v1/search?q=number").statusCode())
                        .isEqualTo(503);
                node.start();
                await().atMost(Duration.ofSeconds(60)).until(server::isReady);
                await().atMost(Duration.ofSeconds(60)).until(() -> total(server, "q=number") == 599);
                assertThat(total(server, "q=%22n7%22")).isZero();

                assertThat(send(server, "POST", "/v1/search/reindex").statusCode())
                        .isEqualTo(202);
                await().atMost(Duration.ofSeconds(60))
                        .until(() ->
                                send(server, "GET", "/v1/search/reindex").body().contains("\"done\""));
                assertThat(total(server, "")).isEqualTo(599);
                String verified = send(server, "GET", "/v1/search/verify").body();
                assertThat(verified.lines()).as(verified).hasSize(1);
                JsonNode verdict = JSON.readTree(verified);
                assertThat(verdict.path("done").asBoolean()).isTrue();
                assertThat(verdict.path("documents").asInt()).isEqualTo(599);

                // An open transaction moves the ends of all partitions beyond the offsets that readers can reach.
                Position event = topics.put("soundcloud:tracks:1", Samples.active(1, "br-1"), "Midnight", 9001);
                String path = "/v1/search?q=midnight&ref=soundcloud:tracks:1&at=" + event;
                assertThat(send(server, "GET", path + "&wait=20s").statusCode()).isEqualTo(200);
                List<String> noise = IntStream.range(0, 50)
                        .mapToObj(i -> "soundcloud:noise:" + i)
                        .toList();
                Runnable commit = topics.beginTransaction(noise, 9002);
                assertThat(send(server, "GET", path).body()).contains("\"total\":1");
                commit.run();
            } finally {
                topics.deleteTopics();
            }
        }
    }

    private SearchServer server(OpenSearchFixture node, Path folder) {
        return SearchServer.start(Settings.read(
                SearchSettings.class,
                Map.of(),
                Map.of(
                        "PURI_BOOTSTRAP_SERVER",
                        broker.bootstrapServers(),
                        "PURI_SCHEMA_REGISTRY",
                        registry.url(),
                        "PURI_HTTP_PORT",
                        "0",
                        "PURI_DRAIN_DELAY",
                        "0s",
                        "PURI_STATE_DIR",
                        folder.toString(),
                        "PURI_SEARCH_ENGINE",
                        "opensearch",
                        "PURI_OPENSEARCH_URL",
                        node.url(),
                        "PURI_OPENSEARCH_REPLICAS",
                        "0",
                        "PURI_OPENSEARCH_WRITE_TIMEOUT",
                        "2s"),
                null));
    }

    private static long total(SearchServer server, String query) throws Exception {
        HttpResponse<String> response = send(server, "GET", ("/v1/search?limit=1&" + query).replaceFirst("&$", ""));
        return response.statusCode() == 200
                ? JSON.readTree(response.body()).path("total").asLong()
                : -1;
    }

    private static HttpResponse<String> send(SearchServer server, String method, String path) throws Exception {
        return INTERNAL_API.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build());
    }
}

package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Entry;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexChange;
import dev.puri.testkit.Broker;
import dev.puri.testkit.Contract;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/** An indexer on a real broker and a real schema registry, with an index in memory. */
@Timeout(120)
abstract class SearchServerFixture {
    static final ObjectMapper JSON = new ObjectMapper();
    static final HttpClient CLIENT = HttpClient.newHttpClient();
    static final Contract INTERNAL_API = new Contract(CLIENT, "/openapi-search.json");
    static final String TRACK = "soundcloud:tracks:1";

    final Broker broker = Broker.shared();
    final SchemaRegistryFixture registry = SchemaRegistryFixture.shared();
    final MemoryStore store = new MemoryStore();
    final List<SearchServer> servers = new ArrayList<>();
    final TopicWriter topics = new TopicWriter(broker.bootstrapServers(), registry.url());
    SearchServer server;

    @BeforeEach
    final void createTopics() throws Exception {
        topics.createTopics();
    }

    @AfterEach
    final void stop() throws Exception {
        servers.forEach(SearchServer::close);
        topics.deleteTopics();
        topics.close();
    }

    final SearchServer start(Map<String, String> settings) {
        return start(settings, () -> store);
    }

    final SearchServer start(Map<String, String> settings, Indexer.EngineOpener engine) {
        server = SearchServer.start(topics.settings(settings), engine);
        servers.add(server);
        return server;
    }

    final void awaitReady() {
        SearchServer current = server;
        await().atMost(Duration.ofSeconds(30)).until(current::isReady);
    }

    final int ask(String method) throws Exception {
        return INTERNAL_API.send(request(method, "/v1/search/reindex")).statusCode();
    }

    final void awaitRebuild(String state) {
        await().atMost(Duration.ofSeconds(30))
                .until(() -> reindexing().path("state").asText().equals(state));
    }

    final JsonNode reindexing() throws IOException {
        return JSON.readTree(get("/v1/search/reindex", 200));
    }

    static IndexChange change(EntryKind kind, String puri, Entry entry) {
        return new IndexChange(kind, 0, 0, Puri.parse(puri), entry);
    }

    final long total(String query) {
        try {
            return JSON.readTree(get("/v1/search?" + query, 200)).path("total").asLong();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    final List<String> found(String query) throws IOException {
        List<String> puris = new ArrayList<>();
        JSON.readTree(get("/v1/search?" + query, 200))
                .path("results")
                .forEach(hit -> puris.add(hit.path("puri").asText()));
        return puris;
    }

    final String get(String path, int status) {
        try {
            HttpResponse<String> response = INTERNAL_API.send(request("GET", path));
            assertThat(response.statusCode()).as(path + ": " + response.body()).isEqualTo(status);
            return response.body();
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(path, e);
        }
    }

    final HttpRequest request(String method, String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build();
    }
}

package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.http.ProblemType;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Row;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexChange;
import dev.puri.search.index.IndexCheckpoint;
import dev.puri.search.index.PageBudget;
import dev.puri.settings.Settings;
import dev.puri.testkit.Contract;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server with a complete stored index and without brokers. */
@Timeout(60)
final class SearchRoutesTest {
    private static final String HANDLE = "trk_4k7vx9tz2nqr8w3";
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final Contract INTERNAL_API = new Contract(CLIENT, "/openapi-search.json");
    private static final Contract PUBLIC_API = new Contract(CLIENT, "/openapi-search-public.json");

    /** Neither brokers nor a schema registry are available. */
    private static final Map<String, String> FLAGS = Map.of(
            "bootstrap.server",
            "127.0.0.1:1",
            "schema.registry",
            "http://127.0.0.1:1",
            "http.port",
            "0",
            "public.http.port",
            "0",
            "drain.delay",
            "0s");

    private static final MemoryStore STORE = new MemoryStore();
    private static final List<SearchServer> SERVERS = new ArrayList<>();
    private static SearchServer server;

    @BeforeAll
    static void start() throws Exception {
        MemoryIndex index = STORE.serving();
        List<IndexChange> changes = new ArrayList<>();
        put(changes, "soundcloud:tracks:1", Samples.row(1, "br-1", HANDLE, Row.Status.ACTIVE, null), "Midnight <City>");
        put(changes, "soundcloud:users:2", Samples.active(2, "br-2"), "The Midnight");
        put(changes, "soundcloud:tracks:3", Samples.active(3, "br-1"), "Midday");
        put(changes, "debian:packages:4", Samples.active(4, "br-1"), null);
        put(
                changes,
                "soundcloud:tracks:5",
                Samples.row(5, "br-2", null, Row.Status.MERGED, "soundcloud:tracks:1"),
                "Midnight");
        index.apply(changes);
        index.refresh();
        index.commit(new IndexCheckpoint(
                Map.of(EntryKind.IDENTITY, "topic-a", EntryKind.DOCUMENT, "topic-b"),
                Map.of(),
                Instant.now(),
                true,
                null));
        server = server(STORE);
    }

    private static void put(List<IndexChange> changes, String puri, Row row, @Nullable String title) {
        Puri name = Puri.parse(puri);
        changes.add(new IndexChange(EntryKind.IDENTITY, 0, changes.size(), name, row));
        if (title != null) {
            changes.add(new IndexChange(EntryKind.DOCUMENT, 0, changes.size(), name, Samples.document(row, title)));
        }
    }

    private static SearchServer server(MemoryStore store) {
        return server(store, FLAGS);
    }

    private static SearchServer server(MemoryStore store, Map<String, String> flags) {
        SearchServer started =
                SearchServer.start(Settings.read(SearchSettings.class, flags, Map.of(), null), () -> store);
        SERVERS.add(started);
        return started;
    }

    /** Each server waits up to two seconds for its requests to the brokers, so all stop at the same time. */
    @AfterAll
    static void stop() throws Exception {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Future<?> stopped : threads.invokeAll(SERVERS.stream()
                    .map(each -> Executors.callable(each::close))
                    .toList())) {
                stopped.get();
            }
        }
    }

    @AfterEach
    void makeEngineAvailable() {
        STORE.serving().setUnavailable(false);
        STORE.serving().setBroken(false);
    }

    @Test
    void aPageContainsAllCollectionsAndFields() throws Exception {
        assertThat(JSON.readTree(get("/v1/search?q=midnight", 200))).isEqualTo(JSON.readTree("""
                {"results":[
                  {"puri":"soundcloud:tracks:1","collection":"soundcloud:tracks","handle":"trk_4k7vx9tz2nqr8w3",
                   "shard":"br-1","owner":"catalog","status":"active","score":1.5,
                   "attributes":{"title":"Midnight <City>"},"highlights":{"title":["<em>Midnight <City></em>"]}},
                  {"puri":"soundcloud:users:2","collection":"soundcloud:users","shard":"br-2","owner":"catalog",
                   "status":"active","score":1.5,"attributes":{"title":"The Midnight"},
                   "highlights":{"title":["<em>The Midnight</em>"]}}],
                 "total":2,"totalIsExact":true,
                 "facets":{"collection":{"soundcloud:tracks":1,"soundcloud:users":1},"shard":{"br-1":1,"br-2":1}}}"""));
        assertThat(get("/v1/search?q=midnight&facets=false&highlight=false", 200))
                .doesNotContain("facets", "highlights");
        assertThat(get("/v1/search?q=midnight&status=merged", 200)).contains("\"canonical\":\"soundcloud:tracks:1\"");
    }

    @Test
    void listsIdentitiesByCreationWithoutAText() throws Exception {
        assertThat(puris("/v1/search?collection=SoundCloud:Tracks&collection=debian:packages"))
                .containsExactly("debian:packages:4", "soundcloud:tracks:3", "soundcloud:tracks:1");
        assertThat(puris("/v1/search?order=oldest&q=&namespace=soundcloud"))
                .containsExactly("soundcloud:tracks:1", "soundcloud:users:2", "soundcloud:tracks:3");
        assertThat(puris("/v1/search?shard=br-2&owner=catalog&status=active&status=merged"))
                .containsExactly("soundcloud:tracks:5", "soundcloud:users:2");
        assertThat(puris("/v1/search?owner=nobody")).isEmpty();
    }

    @Test
    void groupsResultsByShard() throws Exception {
        assertThat(JSON.readTree(get("/v1/search?order=oldest&groupBy=shard", 200))
                        .path("shards"))
                .isEqualTo(JSON.readTree("{\"br-1\":[0,2,3],\"br-2\":[1]}"));
    }

    @Test
    void aCursorPagesThroughTheResultsOfItsQueryOnly() throws Exception {
        List<String> puris = new ArrayList<>();
        String path = "/v1/search?order=oldest&limit=1";
        String cursor = "";
        String first = null;
        while (cursor != null) {
            JsonNode page = JSON.readTree(get(path + (cursor.isEmpty() ? "" : "&cursor=" + cursor), 200));
            page.path("results").forEach(hit -> puris.add(hit.path("puri").asText()));
            cursor = page.path("cursor").asText(null);
            first = first == null ? cursor : first;
        }
        assertThat(puris)
                .containsExactly(
                        "soundcloud:tracks:1", "soundcloud:users:2", "soundcloud:tracks:3", "debian:packages:4");

        assertThat(get("/v1/search?order=oldest&limit=5&facets=false&cursor=" + first, 200))
                .contains("soundcloud:users:2");
        for (String other : List.of("order=newest", "order=oldest&shard=br-1", "q=mid", "order=oldest&status=merged")) {
            assertThat(get("/v1/search?" + other + "&cursor=" + first, 400)).contains("invalid-cursor");
        }
        char last = first.charAt(first.length() - 6);
        String forged = first.substring(0, first.length() - 6)
                + (last == 'A' ? 'B' : 'A')
                + first.substring(first.length() - 5);
        for (String invalid : List.of(forged, "x", "%20", "after-1", "A".repeat(5000))) {
            assertThat(get("/v1/search?order=oldest&cursor=" + invalid, 400)).contains("invalid-cursor");
        }
    }

    @Test
    void aPageEndsAtTheByteBudgetWithACursor() throws Exception {
        MemoryStore store = new MemoryStore();
        List<IndexChange> changes = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            // Each character takes six bytes in JSON.
            put(changes, "soundcloud:tracks:" + i, Samples.active(i, "br-1"), "\u0001".repeat(30_000));
        }
        MemoryIndex index = store.serving();
        index.apply(changes);
        index.refresh();
        index.commit(new IndexCheckpoint(
                Map.of(EntryKind.IDENTITY, "topic-a", EntryKind.DOCUMENT, "topic-b"),
                Map.of(),
                Instant.now(),
                true,
                null));
        SearchServer other = server(store);
        await().until(() ->
                CLIENT.send(request(other.port(), "GET", "/v1/search?limit=1"), HttpResponse.BodyHandlers.ofString())
                                .statusCode()
                        == 200);
        int results = 0;
        String path = "/v1/search?limit=1000&facets=false";
        String cursor = "";
        while (cursor != null) {
            HttpResponse<String> answer = INTERNAL_API.send(
                    request(other.port(), "GET", path + (cursor.isEmpty() ? "" : "&cursor=" + cursor)));
            assertThat(answer.body().length()).isBetween(100_000, PageBudget.MAX_BYTES + 1_000);
            JsonNode page = JSON.readTree(answer.body());
            results += page.path("results").size();
            cursor = page.path("cursor").asText(null);
        }
        assertThat(results).isEqualTo(40);
    }

    @Test
    void rejectsInvalidParameters() {
        for (String invalid : List.of(
                "q=" + "moon%20".repeat(33),
                "limit=0",
                "limit=1001",
                "limit=ten",
                "limit=1&limit=2",
                "q=a&q=b",
                "q=" + "a".repeat(1001),
                "order=best",
                "q=a&order=newest",
                "collection=tracks",
                "collection=a:b:c",
                "namespace=a:b",
                "shard=a%20b",
                "owner=",
                "status=gone",
                "groupBy=owner",
                "facets=yes",
                "highlight=",
                "wait=1s",
                "ref=a:b:c",
                "at=0-1",
                "at=0-1&ref=a%20b",
                "at=0-1&ref=a:b:c&wait=1h")) {
            String parameter = invalid.substring(0, invalid.indexOf('='));
            assertThat(get("/v1/search?" + invalid, 400)).as(invalid).contains("/invalid-parameter\"");
            if (!invalid.startsWith("at=0-1&")) {
                assertThat(get("/v1/search?" + invalid, 400))
                        .contains("\"detail\":\"" + (invalid.contains("order=newest") ? "order" : parameter) + ": ");
            }
        }
        assertThat(get("/v1/search?at=x&ref=a:b:c", 400)).contains("invalid-token");
        assertThat(get("/v1/search?query=a", 400)).contains("unknown-parameter");
        String tooMany = "&shard=a".repeat(101).substring(1);
        assertThat(get("/v1/search?" + tooMany, 400)).contains("invalid-parameter");
    }

    @Test
    void anUnknownEventIsNotCaughtUp() {
        assertThat(get("/v1/search?at=0-1&ref=a:b:c", 504)).contains("not-caught-up");
    }

    @Test
    void reportsAnUnavailableEngine() {
        STORE.serving().setUnavailable(true);

        assertThat(get("/v1/search?q=a", 503)).contains("engine-unavailable");
    }

    @Test
    void anErrorOfTheEngineIsAnswered() {
        STORE.serving().setBroken(true);

        assertThat(get("/v1/search?q=a", 500)).contains("internal");
        assertThat(get("/v1/search?q=a", 500)).contains("internal");
    }

    @Test
    void respondsNotReadyBeforeAnIndexIsComplete() throws Exception {
        SearchServer empty = server(new MemoryStore());
        for (String path : List.of("/v1/search", "/v1/stats", "/v1/search/verify")) {
            HttpResponse<String> answer = INTERNAL_API.send(request(empty.port(), "GET", path));
            assertThat(answer.statusCode()).as(path).isEqualTo(503);
            assertThat(answer.headers().firstValue("Retry-After")).contains("1");
            assertThat(answer.body()).contains("not-ready");
        }
        assertThat(INTERNAL_API
                        .send(request(empty.port(), "POST", "/v1/search/reindex"))
                        .statusCode())
                .isEqualTo(503);
        assertThat(INTERNAL_API
                        .send(request(empty.port(), "GET", "/health/started"))
                        .statusCode())
                .isEqualTo(503);
    }

    @Test
    void aStoredIndexIsStartedButNotReady() throws Exception {
        assertThat(get("/health/started", 200)).contains("\"UP\"");
        assertThat(get("/health/ready", 503))
                .as("public searches need the declarations")
                .contains("\"reason\"", "\"name\":\"collections\",\"status\":\"DOWN\"");
        assertThat(JSON.readTree(get("/v1/stats", 200)).path("identities").asInt())
                .isZero();
        assertThat(get("/v1/search/reindex", 200)).isEqualTo("{\"state\":\"idle\"}\n");
        assertThat(get("/metrics", 200))
                .contains("puri_search_lag_seconds", "puri_search_queries_seconds_count", "puri_search_ready 0");
    }

    @Test
    void respondsNotReadyWhilePublicCollectionsAreUnknown() throws Exception {
        HttpResponse<String> answer =
                PUBLIC_API.send(request(server.publicPort().orElseThrow(), "GET", "/v1/search?q=midnight"));

        assertThat(answer.statusCode()).isEqualTo(503);
        assertThat(answer.body()).contains("Search is not available yet.");
        for (String parameter : List.of("shard=br-1", "owner=a", "status=merged", "groupBy=shard", "at=0-1")) {
            assertThat(PUBLIC_API
                            .send(request(server.publicPort().orElseThrow(), "GET", "/v1/search?" + parameter))
                            .body())
                    .contains("unknown-parameter");
        }
    }

    @Test
    void theSearchScopeDoesNotAllowReindexing(@TempDir Path folder) throws Exception {
        Path tokens = Files.writeString(
                folder.resolve("tokens"), "shop resolve " + hash("s3") + "\nops admin " + hash("s4") + "\n");
        Map<String, String> flags = new HashMap<>(FLAGS);
        flags.put("auth.tokens", tokens.toString());
        int port = server(new MemoryStore(), flags).port();
        assertThat(status(port, "GET", "/v1/search", null)).isEqualTo(401);
        assertThat(status(port, "GET", "/v1/search", "s5")).isEqualTo(401);
        // The index is not complete, which only an authorized caller learns.
        assertThat(status(port, "GET", "/v1/search", "s3")).isEqualTo(503);
        assertThat(status(port, "GET", "/v1/search", "s4")).isEqualTo(403);
        for (String method : List.of("GET", "POST", "DELETE")) {
            assertThat(status(port, method, "/v1/search/reindex", "s3")).isEqualTo(403);
        }
        for (String path : List.of("/v1/search/verify", "/v1/stats", "/metrics")) {
            assertThat(status(port, "GET", path, "s3")).as(path).isEqualTo(403);
            assertThat(status(port, "GET", path, null)).as(path).isEqualTo(401);
        }
        assertThat(status(port, "GET", "/v1/search/reindex", "s4")).isEqualTo(200);
        assertThat(status(port, "GET", "/openapi.json", null)).isEqualTo(200);
    }

    private static String hash(String token) throws Exception {
        return HexFormat.of()
                .formatHex(MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
    }

    private static int status(int port, String method, String path, @Nullable String token) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .method(method, HttpRequest.BodyPublishers.noBody());
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        return INTERNAL_API.send(request.build()).statusCode();
    }

    @Test
    void describesTheLagHeaderOfEveryResponse() {
        assertThat(INTERNAL_API.answersWithout(SearchRoutes.LAG)).isEmpty();
        assertThat(PUBLIC_API.answersWithout(SearchRoutes.LAG)).isEmpty();
    }

    @Test
    void rejectsOtherMethodsAsDescribed() throws Exception {
        for (String path : List.of("/v1/search", "/v1/search/reindex", "/health/live", "/openapi.json")) {
            assertThat(INTERNAL_API.send(request(server.port(), "PUT", path)).statusCode())
                    .isEqualTo(405);
        }
        assertThat(PUBLIC_API
                        .send(request(server.publicPort().orElseThrow(), "POST", "/v1/search"))
                        .statusCode())
                .isEqualTo(405);
    }

    @Test
    void everyProblemHasAPage() {
        for (ProblemType problem : Problems.ALL) {
            assertThat(get("/problems/" + problem.name(), 200)).contains("<h1>" + problem.title(), problem.uri());
        }
    }

    @Test
    void theDescriptionsContainExactlyTheRoutes() throws Exception {
        assertThat(described("/openapi-search.json")).isEqualTo(paths(server.port()));
        assertThat(described("/openapi-search-public.json"))
                .isEqualTo(paths(server.publicPort().orElseThrow()));
        assertThat(get("/openapi.json", 200)).contains("\"Puri search\"");
    }

    private static Set<String> described(String resource) {
        Set<String> paths = new LinkedHashSet<>();
        Contract.read(resource).path("paths").fieldNames().forEachRemaining(paths::add);
        return paths;
    }

    /** Returns the paths that the response to an unknown path lists. */
    private static Set<String> paths(int port) throws Exception {
        String detail = JSON.readTree(CLIENT.send(request(port, "GET", "/none"), HttpResponse.BodyHandlers.ofString())
                        .body())
                .path("detail")
                .asText();
        return new LinkedHashSet<>(List.of(
                detail.replace("The paths are ", "").replaceFirst("\\.$", "").split(", ")));
    }

    private static List<String> puris(String path) throws IOException {
        List<String> puris = new ArrayList<>();
        JSON.readTree(get(path, 200))
                .path("results")
                .forEach(hit -> puris.add(hit.path("puri").asText()));
        return puris;
    }

    private static String get(String path, int status) {
        try {
            HttpResponse<String> response = INTERNAL_API.send(request(server.port(), "GET", path));
            assertThat(response.statusCode()).as(path + ": " + response.body()).isEqualTo(status);
            return response.body();
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(path, e);
        }
    }

    private static HttpRequest request(int port, String method, String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build();
    }
}

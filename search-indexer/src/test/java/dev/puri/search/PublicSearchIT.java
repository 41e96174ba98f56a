package dev.puri.search;

import static dev.puri.testkit.RawHttp.METHODS;
import static dev.puri.testkit.RawHttp.ask;
import static dev.puri.testkit.RawHttp.body;
import static dev.puri.testkit.RawHttp.exchange;
import static dev.puri.testkit.RawHttp.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Row;
import dev.puri.testkit.Broker;
import dev.puri.testkit.SchemaRegistryFixture;
import dev.puri.testkit.Secrets;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Checks that the public listener reveals no secret: publishes documents with known secrets, sends every kind of
 * request, and looks for the secrets in every byte of the responses.
 */
@Timeout(120)
final class PublicSearchIT {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String OWNER = "owner-nobody-may-know";
    private static final String SHARD = "shard-nobody-may-know";
    private static final String OPEN = "open:tracks:may-be-named";
    private static final String OPEN_TOO = "open:tracks:may-be-named-too";
    private static final String OPEN_MERGED = "open:tracks:merged";
    private static final String CLOSED = "closed:tracks:quiet-1";
    private static final String UNDECLARED = "unheard:of:quiet-2";
    private static final Pattern CURSOR = Pattern.compile("\"cursor\":\"([^\"]+)\"");

    private final Broker broker = Broker.shared();
    private final SchemaRegistryFixture registry = SchemaRegistryFixture.shared();
    private final TopicWriter topics = new TopicWriter(broker.bootstrapServers(), registry.url());
    private final Secrets secrets = new Secrets();
    private SearchServer server;

    @BeforeEach
    void publish() throws Exception {
        topics.createTopics();
        secrets.add("owner", OWNER);
        secrets.add("shard", SHARD);
        secrets.add("epoch", "918273645");
        secrets.add("name of a private one", CLOSED);
        secrets.add("name of an undeclared one", UNDECLARED);
        secrets.add("private text", "confidential");
        secrets.add("undeclared text", "unpublished");
        secrets.add("internal port's metrics", "puri_search");
        server = SearchServer.start(topics.settings(Map.of("public.http.port", "0")));
    }

    @AfterEach
    void stop() throws Exception {
        server.close();
        topics.deleteTopics();
        topics.close();
    }

    @Test
    void neverRevealsASecret() throws Exception {
        int port = server.publicPort().orElseThrow();
        searchEverything(port);

        topics.declare("open:tracks", true);
        topics.declare("closed:tracks", false);
        put(1, OPEN, "opn_4k7vx9tz2nqr8w3", null, "Midnight City");
        put(2, OPEN_TOO, null, null, "Midnight Train");
        put(3, OPEN_MERGED, "opn_555555555555555", CLOSED, "Midnight confidential");
        put(4, CLOSED, "cls_4k7vx9tz2nqr8w3", null, "Midnight confidential");
        topics.declare("named:tracks", true, false);
        put(6, "named:tracks:quiet-3", "nam_4k7vx9tz2nqr8w3", null, "Not to be searched");
        put(5, UNDECLARED, "unh_4k7vx9tz2nqr8w3", null, "Midnight unpublished");
        await().atMost(Duration.ofSeconds(30))
                .until(() -> ask(server.port(), "GET", "/v1/search?q=midnight&status=merged&status=active")
                        .contains("\"total\":5"));
        await().atMost(Duration.ofSeconds(30))
                .until(() -> ask(port, "GET", "/v1/search").contains("\"total\":2"));
        searchEverything(port);

        JsonNode page = JSON.readTree(body(ask(port, "GET", "/v1/search?q=midnight%20cit")));
        assertThat(page.path("results").findValuesAsText("puri")).containsExactly(OPEN);
        assertThat(names(page)).containsExactly("results", "total", "totalIsExact", "facets");
        assertThat(names(page.at("/results/0")))
                .containsExactly("puri", "collection", "handle", "score", "attributes", "highlights");
        assertThat(page.at("/results/0/highlights/title/0").asText()).isEqualTo("<em>Midnight</em> <em>City</em>");
        assertThat(page.path("facets")).isEqualTo(JSON.readTree("{\"collection\":{\"open:tracks\":1}}"));
        for (String unsearched : List.of("closed:tracks", "named:tracks")) {
            assertThat(body(ask(port, "GET", "/v1/search?collection=" + unsearched)))
                    .isEqualTo("{\"results\":[],\"total\":0,\"totalIsExact\":true,\"facets\":{\"collection\":{}}}\n");
        }
        theSecretsAreOnTheInternalListener();
        privateTextsMatchNothing(port);

        topics.declare("open:tracks", false);
        await().atMost(Duration.ofSeconds(30))
                .until(() -> ask(port, "GET", "/v1/search").contains("\"total\":0"));
    }

    private static List<String> names(JsonNode object) {
        List<String> names = new ArrayList<>();
        object.fieldNames().forEachRemaining(names::add);
        return names;
    }

    private void theSecretsAreOnTheInternalListener() throws IOException {
        List<String> found = new ArrayList<>();
        found.addAll(secrets.in(ask(server.port(), "GET", "/v1/search?q=midnight")));
        found.addAll(secrets.in(ask(server.port(), "GET", "/metrics")));
        assertThat(found)
                .contains("owner", "shard", "name of a private one", "private text", "undeclared text")
                .contains("internal port's metrics");
    }

    /** The response to a word of a private text equals the response to a word of no text. */
    private static void privateTextsMatchNothing(int port) throws IOException {
        for (String word : List.of("confidential", "unpublished", "quiet", "confid*")) {
            assertThat(body(ask(port, "GET", "/v1/search?q=" + word)))
                    .isEqualTo(body(ask(port, "GET", "/v1/search?q=xyzzy")));
        }
    }

    private void put(int number, String puri, @Nullable String handle, @Nullable String mergedInto, String title) {
        UUID uuid = new UUID(0x0197_c3a2_5b1e_7000L | number, 0x8e9f_0a1b_2c3d_0000L | number);
        secrets.add(puri, uuid);
        Instant now = Samples.TIME;
        topics.put(
                puri,
                new Row(
                        uuid,
                        new Owner(OWNER),
                        new Shard(SHARD),
                        handle == null ? null : new Handle(handle),
                        mergedInto == null ? Row.Status.ACTIVE : Row.Status.MERGED,
                        918_273_645L,
                        now,
                        now,
                        mergedInto == null ? null : dev.puri.schemas.identity.Puri.parse(mergedInto),
                        Samples.position(number)),
                title,
                number);
    }

    private void searchEverything(int port) throws IOException {
        List<byte[]> requests = new ArrayList<>(requests());
        // The cursor of each page, also with another query.
        for (String list : List.of("order=oldest&limit=1", "q=midnight&limit=1")) {
            Matcher cursor = CURSOR.matcher(ask(port, "GET", "/v1/search?" + list));
            if (cursor.find()) {
                requests.add(get(list + "&cursor=" + cursor.group(1)));
                requests.add(get("limit=1&cursor=" + cursor.group(1)));
            }
        }
        for (byte[] request : requests) {
            String answer = exchange(port, request);
            assertThat(secrets.in(answer))
                    .as("%s%n%s", new String(request, StandardCharsets.ISO_8859_1), answer)
                    .isEmpty();
            assertThat(answer).matches("(?s)HTTP/1\\.[01] (?!500).*");
        }
    }

    private static byte[] get(String query) {
        return request("GET", "/v1/search?" + query, "", "");
    }

    /** Requests contain private names in upper case, so a lower-case name in a response comes from the index. */
    private static List<byte[]> requests() {
        List<byte[]> requests = new ArrayList<>();
        for (String path : List.of(
                "/",
                "*",
                "/v1/search",
                "/v1/search/reindex",
                "/v1/search/verify",
                "/v1/stats",
                "/metrics",
                "/openapi.json",
                "/health/started",
                "/health/live",
                "/health/ready",
                "/problems/not-ready",
                "/v1/search/../stats",
                "//v1/stats",
                "/V1/STATS",
                "http://internal/v1/stats")) {
            for (String method : METHODS) {
                requests.add(request(method, path, "", ""));
            }
        }
        for (String query : List.of(
                "q=midnight",
                "q=midnight&facets=true&highlight=true",
                "q=CONFIDENTIAL",
                "q=confid*",
                "q=%22midnight%20CONFIDENTIAL%22",
                "q=confidentiel",
                "q=QUIET",
                "q=CLOSED:TRACKS:QUIET-1",
                "q=cls_4k7vx9tz2nqr8w3",
                "q=owner",
                "q=*",
                "q=%00",
                "q=%zz",
                "q=shard:*%20OR%20owner:*",
                "order=oldest",
                "order=newest&limit=1000",
                "collection=CLOSED:TRACKS",
                "collection=UNHEARD:OF&collection=open:tracks",
                "namespace=CLOSED",
                "namespace=closed&namespace=open",
                "shard=x",
                "owner=x",
                "status=merged",
                "groupBy=shard",
                "at=0-1&ref=open:tracks:merged",
                "ref=CLOSED:TRACKS:QUIET-1",
                "cursor=x",
                "cursor=" + "A".repeat(200),
                "limit=0",
                "nonsense=1")) {
            requests.add(get(query));
        }
        requests.add(request("GET", "/v1/search?q=midnight", "X: " + "x".repeat(20_000) + "\r\n", ""));
        requests.add("GARBAGE\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1));
        return requests;
    }
}

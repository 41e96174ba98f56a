package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.http.Health;
import dev.puri.http.Listener;
import dev.puri.http.ListenerOptions;
import dev.puri.http.Metrics;
import dev.puri.http.Route;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.Table;
import dev.puri.schemas.identity.Puri;
import dev.puri.testkit.Contract;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class PublicRoutesTest {
    private static final String HANDLE = "trk_4k7vx9tz2nqr8w3";
    private static final ObjectMapper JSON = new ObjectMapper();

    private final PackedTable filled = new PackedTable();
    private final Metrics metrics = new Metrics();
    private final Health health = new Health();
    private final HttpClient client = HttpClient.newHttpClient();
    private final Contract contract = new Contract(client, "/openapi-public.json");
    private Supplier<@Nullable Table> tables = () -> filled;
    private final List<Route> routes = PublicRoutes.of(
            new PublicLookUps(() -> tables.get(), collection -> false, 3, metrics.registry()),
            health,
            new Route.DynamicHeader(Routes.LAG, () -> null));
    private final Listener listener =
            Listener.start(ListenerOptions.at("127.0.0.1", 0).named("public"), routes, metrics);

    @AfterEach
    void stop() {
        listener.close();
        metrics.close();
        client.close();
    }

    @Test
    void aBatchIsAnsweredInItsOrder() {
        filled.put(Puri.parse("a:b:c"), Rows.active("br-1", HANDLE));

        assertThat(post("{\"refs\":[\"a:b:c\",\"" + HANDLE + "\",\"trk_999999999999999\"]}", 200))
                .startsWith("{\"results\":[{\"ref\":\"a:b:c\",\"verdict\":\"malformed\",")
                .endsWith("},{\"ref\":\"" + HANDLE + "\",\"verdict\":\"found\",\"handle\":\"" + HANDLE
                        + "\"},{\"ref\":\"trk_999999999999999\",\"verdict\":\"unknown\"}]}\n");
    }

    @Test
    void internalParametersAreUnknownHere() {
        assertThat(post("{\"refs\":[],\"groupBy\":\"shard\"}", 400)).contains("invalid-body", "/groupBy");
        assertThat(post("{\"refs\":[{\"ref\":\"" + HANDLE + "\"}]}", 400)).contains("invalid-body", "/refs/0");
        assertThat(post("{\"refs\":[\"1\",\"2\",\"3\",\"4\"]}", 400)).contains("too-many-refs");
        assertThat(get("/v1/identities/" + HANDLE + "?at=3-1042", 400)).contains("unknown-parameter");
        assertThat(get("/problems/unknown-parameter", 200)).contains("<h1>The query has an unknown parameter</h1>");
        for (String path : List.of(
                "/", "/v1/changes", "/v1/export", "/v1/rejections", "/v1/collections", "/v1/stats", "/metrics")) {
            assertThat(get(path, 404)).contains("no-such-path");
        }
    }

    @Test
    void notReadyHasNoNumbers() {
        tables = () -> null;

        assertThat(get("/v1/identities/" + HANDLE, 503)).contains("\"detail\":\"The resolver cannot answer yet.\"");
        assertThat(post("{\"refs\":[]}", 503)).contains("\"detail\":\"The resolver cannot answer yet.\"");
    }

    @Test
    void healthHasNoNumbers() {
        health.add(Health.Kind.READY, "table", () -> Health.State.down(Map.of("behind", 4711)));

        assertThat(get("/health/ready", 503)).isEqualTo("{\"status\":\"DOWN\",\"checks\":[]}\n");
    }

    @Test
    void aBugHasNoDetails() {
        tables = () -> {
            throw new IllegalStateException("a secret");
        };

        assertThat(get("/v1/identities/" + HANDLE, 500))
                .contains("/problems/internal")
                .doesNotContain("a secret");
    }

    @Test
    void theDescriptionNamesEveryRouteAndNoOther() throws IOException {
        Set<String> described = new TreeSet<>();
        JsonNode description = JSON.readTree(get("/openapi.json", 200));
        description
                .at("/paths")
                .properties()
                .forEach(path -> path.getValue()
                        .fieldNames()
                        .forEachRemaining(
                                method -> described.add(method.toUpperCase(Locale.ROOT) + " " + path.getKey())));

        assertThat(described)
                .isEqualTo(routes.stream()
                        .map(route -> route.method() + " " + route.path())
                        .collect(Collectors.toCollection(TreeSet::new)));
        assertThat(description.findValuesAsText("$ref"))
                .isNotEmpty()
                .allSatisfy(ref -> assertThat(description.at(ref.substring(1)).isMissingNode())
                        .isFalse());
        assertThat(description.at("/components/schemas/Result/properties").properties())
                .extracting(Map.Entry::getKey)
                .containsExactlyInAnyOrder(
                        "ref", "verdict", "puri", "handle", "canonical", "canonicalHandle", "detail");
    }

    private String get(String path, int status) {
        return answered(HttpRequest.newBuilder(uri(path)).build(), status);
    }

    private String post(String body, int status) {
        return answered(
                HttpRequest.newBuilder(uri("/v1/resolve"))
                        .POST(HttpRequest.BodyPublishers.ofString(body))
                        .build(),
                status);
    }

    private String answered(HttpRequest request, int status) {
        HttpResponse<String> response = contract.sendAsync(request).join();
        assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
        return response.body();
    }

    private URI uri(String path) {
        return URI.create("http://127.0.0.1:" + listener.port() + path);
    }
}

package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.puri.settings.Settings;
import dev.puri.testkit.Broker;
import dev.puri.testkit.SchemaRegistryFixture;
import dev.puri.testkit.TestCertificates;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** TLS and authorization of an indexer. */
@Timeout(120)
final class SearchGuardIT {
    private final Broker broker = Broker.shared();
    private final SchemaRegistryFixture registry = SchemaRegistryFixture.shared();
    private final TopicWriter topics = new TopicWriter(broker.bootstrapServers(), registry.url());

    @BeforeEach
    void createTopics() throws Exception {
        topics.createTopics();
    }

    @AfterEach
    void deleteTopics() throws Exception {
        topics.deleteTopics();
        topics.close();
    }

    private SearchServer start(Map<String, String> guards) {
        Map<String, String> environment = new HashMap<>(guards);
        environment.put("PURI_BOOTSTRAP_SERVER", broker.bootstrapServers());
        environment.put("PURI_SCHEMA_REGISTRY", registry.url());
        environment.put("PURI_HTTP_PORT", "0");
        environment.put("PURI_DRAIN_DELAY", "0s");
        SearchServer server =
                SearchServer.start(Settings.read(SearchSettings.class, Map.of(), environment, null), MemoryStore::new);
        await().atMost(Duration.ofSeconds(60)).until(server::isReady);
        return server;
    }

    @Test
    void requiresACertificateAndAToken(@TempDir Path folder) throws Exception {
        TestCertificates certificates = TestCertificates.shared();
        Map<String, String> guards = Map.of(
                "PURI_TLS_CERTIFICATE",
                certificates.certificate("server", folder.resolve("server.pem")).toString(),
                "PURI_TLS_KEY",
                certificates.key("server", folder.resolve("server.key")).toString(),
                "PURI_TLS_CLIENT_CA",
                certificates.certificate("ca", folder.resolve("ca.pem")).toString(),
                "PURI_TLS_CLIENT_AUTH",
                "required",
                "PURI_AUTH_TOKENS",
                Files.writeString(
                                folder.resolve("tokens"),
                                "shop resolve " + hash("s3") + "\noperator admin " + hash("s4") + "\n")
                        .toString());
        try (SearchServer server = start(guards);
                HttpClient client = client(certificates, "client");
                HttpClient nobody = client(certificates, null);
                HttpClient stranger = client(certificates, "stranger")) {
            URI base = URI.create("https://127.0.0.1:" + server.port());
            for (HttpClient unheard : List.of(nobody, stranger)) {
                assertThatThrownBy(() -> status(unheard, "GET", base.resolve("/health/live"), null))
                        .isInstanceOf(IOException.class);
            }
            assertThat(status(client, "GET", base.resolve("/health/live"), null))
                    .isEqualTo(200);

            URI search = base.resolve("/v1/search?q=x");
            assertThat(status(client, "GET", search, null)).isEqualTo(401);
            assertThat(status(client, "GET", search, "s5")).isEqualTo(401);
            assertThat(status(client, "GET", search, "s3")).isEqualTo(200);
            for (String path : List.of("/v1/search/reindex", "/v1/search/verify", "/v1/stats", "/metrics")) {
                assertThat(status(client, "GET", base.resolve(path), null))
                        .as(path)
                        .isEqualTo(401);
                assertThat(status(client, "GET", base.resolve(path), "s4"))
                        .as(path)
                        .isEqualTo(200);
            }
            URI reindex = base.resolve("/v1/search/reindex");
            assertThat(status(client, "POST", reindex, "s3")).isEqualTo(403);
            assertThat(status(client, "GET", base.resolve("/v1/search/verify"), "s3"))
                    .isEqualTo(403);
            assertThat(status(client, "POST", reindex, "s4")).isEqualTo(202);
        }
    }

    @Test
    void thePublicNeedsATokenUnlessAnonymousIsSet(@TempDir Path folder) throws Exception {
        Path tokens = Files.writeString(folder.resolve("tokens"), "shop resolve " + hash("s3"));
        for (boolean anonymous : new boolean[] {false, true}) {
            Map<String, String> guards = Map.of(
                    "PURI_AUTH_TOKENS", tokens.toString(),
                    "PURI_PUBLIC_HTTP_PORT", "0",
                    "PURI_PUBLIC_ANONYMOUS", Boolean.toString(anonymous));
            try (HttpClient client = HttpClient.newHttpClient();
                    SearchServer server = start(guards)) {
                URI open = URI.create("http://127.0.0.1:" + server.publicPort().orElseThrow() + "/v1/search");
                assertThat(status(client, "GET", open, null)).isEqualTo(anonymous ? 200 : 401);
                assertThat(status(client, "GET", open, "s3")).isEqualTo(200);
                URI inside = URI.create("http://127.0.0.1:" + server.port() + "/v1/search");
                assertThat(status(client, "GET", inside, null)).isEqualTo(401);
            }
        }
    }

    private static HttpClient client(TestCertificates certificates, @Nullable String name) throws Exception {
        return HttpClient.newBuilder().sslContext(certificates.client(name)).build();
    }

    private static int status(HttpClient client, String method, URI uri, @Nullable String token)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(uri).method(method, HttpRequest.BodyPublishers.noBody());
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString())
                .statusCode();
    }

    private static String hash(String token) throws Exception {
        return HexFormat.of()
                .formatHex(MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
    }
}

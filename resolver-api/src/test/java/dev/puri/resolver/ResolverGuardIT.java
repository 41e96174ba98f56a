package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpServer;
import dev.puri.schemas.log.Topics;
import dev.puri.settings.Settings;
import dev.puri.testkit.Broker;
import dev.puri.testkit.Contract;
import dev.puri.testkit.TestCertificates;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The limits of a resolver and its shutdown, from settings to sockets. */
@Timeout(120)
final class ResolverGuardIT {
    private static final String ISSUER = "https://issuer.example";
    private static final String UNKNOWN = "/v1/identities/a:b:c";

    /** No subject is requested, because the topic is empty. */
    private static final String NO_REGISTRY = "http://127.0.0.1:1";

    private static Broker broker;

    @BeforeAll
    static void startBroker() throws Exception {
        broker = Broker.shared();
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
            admin.createTopics(List.of(new NewTopic(Topics.IDENTITIES, 1, (short) 1)))
                    .all()
                    .get();
        }
    }

    @AfterAll
    static void deleteTopic() throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
            admin.deleteTopics(List.of(Topics.IDENTITIES)).all().get();
        }
    }

    @Test
    void settingsTakeEffect(@TempDir Path folder) throws Exception {
        TestCertificates certificates = TestCertificates.shared();
        ECKey key = new ECKeyGenerator(Curve.P_256).keyID("one").generate();
        ECKey forged = new ECKeyGenerator(Curve.P_256).keyID("one").generate();
        HttpServer issuer = issuer(key);
        Map<String, String> settings = new HashMap<>();
        settings.put("PURI_TLS_CERTIFICATE", path(certificates.certificate("server", folder.resolve("server.pem"))));
        settings.put("PURI_TLS_KEY", path(certificates.key("server", folder.resolve("server.key"))));
        settings.put("PURI_TLS_CLIENT_CA", path(certificates.certificate("ca", folder.resolve("ca.pem"))));
        settings.put("PURI_TLS_CLIENT_AUTH", "required");
        settings.put(
                "PURI_AUTH_TOKENS", path(Files.writeString(folder.resolve("tokens"), "shop resolve " + hash("s3"))));
        settings.put("PURI_AUTH_JWKS", "http://127.0.0.1:" + issuer.getAddress().getPort() + "/keys");
        settings.put("PURI_AUTH_ISSUER", ISSUER);
        settings.put("PURI_AUTH_AUDIENCE", "puri");
        settings.put("PURI_AUTH_ALGORITHMS", "ES256");
        try (Resolver resolver = start(settings);
                HttpClient client = client(certificates.client("client"))) {
            URI base = URI.create("https://127.0.0.1:" + resolver.port());

            try (HttpClient nobody = client(certificates.client(null));
                    HttpClient stranger = client(certificates.client("stranger"))) {
                assertThatThrownBy(() -> get(nobody, base, "/health/live", null))
                        .isInstanceOf(IOException.class);
                assertThatThrownBy(() -> get(stranger, base, "/health/live", null))
                        .isInstanceOf(IOException.class);
            }
            HttpResponse<String> live = get(client, base, "/health/live", null);
            assertThat(live.statusCode()).isEqualTo(200);
            assertThat(live.version()).isEqualTo(HttpClient.Version.HTTP_2);

            for (String path :
                    List.of(UNKNOWN, "/v1/changes", "/v1/export", "/v1/rejections", "/v1/stats", "/metrics")) {
                HttpResponse<String> denied = get(client, base, path, null);
                assertThat(denied.statusCode()).as(path).isEqualTo(401);
                assertThat(denied.headers().firstValue("WWW-Authenticate")).contains("Bearer realm=\"puri\"");
            }
            assertThat(get(client, base, "/openapi.json", null).statusCode()).isEqualTo(200);

            assertThat(get(client, base, UNKNOWN, "s3").statusCode()).isEqualTo(404);
            assertThat(get(client, base, UNKNOWN, "s4").statusCode()).isEqualTo(401);
            HttpResponse<String> forbidden = get(client, base, "/v1/stats", "s3");
            assertThat(forbidden.statusCode()).isEqualTo(403);
            assertThat(forbidden.headers().firstValue("WWW-Authenticate").orElseThrow())
                    .contains("insufficient_scope", "admin");

            String admin = token(key, "admin");
            assertThat(get(client, base, "/v1/stats", admin).statusCode()).isEqualTo(200);
            assertThat(get(client, base, UNKNOWN, admin).statusCode()).isEqualTo(403);
            assertThat(get(client, base, "/v1/stats", token(forged, "admin")).statusCode())
                    .isEqualTo(401);
            // A client that may follow changes gets the error of its request, not a refusal of access.
            assertThat(get(client, base, "/v1/changes?collection=x", token(key, "changes"))
                            .statusCode())
                    .isEqualTo(400);
            assertThat(get(client, base, "/metrics", admin).body())
                    .contains("puri_auth_denied_total{listener=\"internal\",reason=\"scope\"} 2.0")
                    .contains("puri_auth_denied_total{listener=\"internal\",reason=\"missing\"} 6.0");
        } finally {
            issuer.stop(0);
        }
    }

    @Test
    void thePublicNeedsATokenUnlessAnonymousIsSet(@TempDir Path folder) throws Exception {
        Path tokens = Files.writeString(folder.resolve("tokens"), "shop resolve " + hash("s3"));
        for (boolean anonymous : new boolean[] {false, true}) {
            Map<String, String> settings = Map.of(
                    "PURI_AUTH_TOKENS", tokens.toString(),
                    "PURI_PUBLIC_HTTP_PORT", "0",
                    "PURI_PUBLIC_ANONYMOUS", Boolean.toString(anonymous));
            try (HttpClient client = HttpClient.newHttpClient();
                    Resolver resolver = start(settings)) {
                URI open =
                        URI.create("http://127.0.0.1:" + resolver.publicPort().orElseThrow());
                Contract contract = new Contract(client, "/openapi-public.json");
                HttpRequest.Builder handle = HttpRequest.newBuilder(open.resolve("/v1/identities/trk_4k7vx9tz2nqr8w3"));

                assertThat(contract.send(handle.build()).statusCode()).isEqualTo(anonymous ? 404 : 401);
                assertThat(contract.send(handle.header("Authorization", "Bearer s3")
                                        .build())
                                .statusCode())
                        .isEqualTo(404);
                URI inside = URI.create("http://127.0.0.1:" + resolver.port());
                assertThat(get(client, inside, UNKNOWN, null).statusCode()).isEqualTo(401);
            }
        }
    }

    @Test
    void theDashboardNamesOnlyMetersThatExist() throws Exception {
        Set<String> named = new TreeSet<>();
        JsonNode dashboard = new ObjectMapper()
                .readTree(
                        Path.of("..", "deploy", "grafana", "puri-resolver.json").toFile());
        for (JsonNode expression : dashboard.findValues("expr")) {
            Pattern.compile("\\b(puri|jvm|process)_\\w+")
                    .matcher(expression.asText())
                    .results()
                    .forEach(each -> named.add(each.group()));
        }
        try (HttpClient client = HttpClient.newHttpClient();
                Resolver resolver = start(Map.of())) {
            URI base = URI.create("http://127.0.0.1:" + resolver.port());
            get(client, base, UNKNOWN, null);
            Set<String> exported = get(client, base, "/metrics", null)
                    .body()
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .map(line -> line.replaceFirst("[{ ].*", ""))
                    .collect(Collectors.toSet());

            assertThat(named).hasSizeGreaterThan(25);
            assertThat(exported).containsAll(named);
        }
    }

    @Test
    void aStopIsUnreadyFirst() throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            Resolver resolver = start(Map.of("PURI_DRAIN_DELAY", "3s"));
            URI base = URI.create("http://127.0.0.1:" + resolver.port());
            Contract contract = new Contract(client, "/openapi.json");
            CompletableFuture<HttpResponse<String>> changes = contract.sendAsync(
                    HttpRequest.newBuilder(base.resolve("/v1/changes")).build());
            CompletableFuture<HttpResponse<String>> waiting =
                    contract.sendAsync(HttpRequest.newBuilder(base.resolve(UNKNOWN + "?at=0-7&wait=30s"))
                            .build());
            await().untilAsserted(
                            () -> assertThat(get(client, base, "/metrics", null).body())
                                    .contains("puri_waiters 1.0", "puri_changes_streams 1.0"));

            CompletableFuture<Void> stopped = CompletableFuture.runAsync(resolver::close);

            await().untilAsserted(() -> {
                HttpResponse<String> ready = get(client, base, "/health/ready", null);
                assertThat(ready.statusCode()).isEqualTo(503);
                assertThat(ready.body()).contains("the server is stopping");
            });
            assertThat(get(client, base, UNKNOWN, null).statusCode()).isEqualTo(404);
            assertThat(waiting).isNotDone();

            assertThat(waiting.get(30, TimeUnit.SECONDS).statusCode()).isEqualTo(504);
            assertThat(changes.get(30, TimeUnit.SECONDS).body())
                    .endsWith("retry: 1000\nevent: bye\ndata: {\"reason\":\"stopping\"}\n\n");
            stopped.get(60, TimeUnit.SECONDS);
            assertThatThrownBy(() -> get(client, base, UNKNOWN, null)).isInstanceOf(ConnectException.class);
        }
    }

    private static Resolver start(Map<String, String> environment) {
        Map<String, String> all = new HashMap<>(environment);
        all.put("PURI_BOOTSTRAP_SERVER", broker.bootstrapServers());
        all.put("PURI_SCHEMA_REGISTRY", NO_REGISTRY);
        all.put("PURI_HTTP_PORT", "0");
        all.putIfAbsent("PURI_DRAIN_DELAY", "0s");
        Resolver resolver = Resolver.start(Settings.read(ResolverSettings.class, Map.of(), all, null));
        await().atMost(Duration.ofSeconds(60)).until(resolver::isReady);
        return resolver;
    }

    private static HttpServer issuer(ECKey key) throws IOException {
        byte[] keys = new JWKSet(key.toPublicJWK()).toString().getBytes(StandardCharsets.UTF_8);
        HttpServer issuer = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        issuer.createContext("/keys", exchange -> {
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, keys.length);
            exchange.getResponseBody().write(keys);
            exchange.close();
        });
        issuer.start();
        return issuer;
    }

    private static String token(ECKey key, String scope) throws Exception {
        SignedJWT token = new SignedJWT(
                new JWSHeader.Builder(JWSAlgorithm.ES256).keyID("one").build(),
                new JWTClaimsSet.Builder()
                        .issuer(ISSUER)
                        .audience("puri")
                        .subject("shop")
                        .claim("scope", scope)
                        .expirationTime(Date.from(Instant.now().plusSeconds(300)))
                        .build());
        token.sign(new ECDSASigner(key));
        return token.serialize();
    }

    private static HttpClient client(SSLContext context) {
        return HttpClient.newBuilder().sslContext(context).build();
    }

    private static HttpResponse<String> get(HttpClient client, URI base, String path, @Nullable String token)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(base.resolve(path));
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        return new Contract(client, "/openapi.json").send(request.build());
    }

    private static String hash(String token) throws Exception {
        return HexFormat.of()
                .formatHex(MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
    }

    private static String path(Path file) {
        return file.toString();
    }
}

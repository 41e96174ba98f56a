package dev.puri.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.puri.settings.InvalidSettingsException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

@Isolated("reads what all classes log")
@Timeout(60)
final class RequestAuthorizerTest {
    private static final String RESOLVER = "3f9d0e6ab1c24c75a3b0d7f2e8c41a90";
    private static final String ADMIN = "b7c2a9d4e1f04f0f8a6e5d3c2b1a0998";

    @TempDir
    private Path folder;

    private final Metrics metrics = new Metrics();
    private final Health health = new Health();
    private final HttpClient client = HttpClient.newHttpClient();
    private final ListAppender<ILoggingEvent> logged = new ListAppender<>();
    private final Logger root = (Logger) LoggerFactory.getLogger("dev.puri");
    private Path tokens;
    private Listener listener;

    @BeforeEach
    void start() throws Exception {
        tokens = Files.writeString(
                folder.resolve("tokens"),
                "# who may ask\n\nservices resolve,changes " + sha256(RESOLVER) + "\nops  admin  "
                        + sha256(ADMIN).toUpperCase(Locale.ROOT) + "\n");
        logged.start();
        root.setLevel(Level.TRACE);
        root.addAppender(logged);
        start(ListenerOptions.at("127.0.0.1", 0).onOneThread());
    }

    private void start(ListenerOptions options) {
        List<Route> routes = List.of(
                Route.get("/open", Scope.NONE, RequestAuthorizerTest::hello),
                Route.get("/resolve", Scope.RESOLVE, RequestAuthorizerTest::hello),
                Route.post(
                        "/resolve",
                        Scope.RESOLVE,
                        exchange -> exchange.readBody(body -> exchange.answer(200, "text/plain", body))),
                Route.get("/changes", Scope.CHANGES, RequestAuthorizerTest::hello),
                metrics.route(),
                health.routes().getFirst());
        listener = Listener.start(
                options.with(RunningListener.http(Map.of("auth.tokens", tokens.toString()))),
                routes,
                metrics,
                Duration.ofMillis(20));
    }

    @AfterEach
    void stop() {
        root.detachAppender(logged);
        root.setLevel(null);
        listener.close();
        metrics.close();
        client.close();
    }

    @Test
    void onlyOpenRoutesNeedNoToken() {
        for (String path : List.of("/resolve", "/changes", "/metrics")) {
            HttpResponse<String> response = get(path, null);

            assertThat(response.statusCode()).as(path).isEqualTo(401);
            assertThat(response.body()).contains("problems/unauthenticated");
            assertThat(response.headers().firstValue("WWW-Authenticate")).contains("Bearer realm=\"puri\"");
        }
        assertThat(get("/open", null).statusCode()).isEqualTo(200);
        assertThat(get("/health/started", null).statusCode()).isEqualTo(200);
        assertThat(denied("missing")).isEqualTo(3);
    }

    @Test
    void aTokenIsValidOnlyForItsScopes() {
        assertThat(get("/resolve", "Bearer " + RESOLVER).statusCode()).isEqualTo(200);
        assertThat(get("/changes", "bearer  " + RESOLVER).statusCode()).isEqualTo(200);
        assertThat(get("/metrics", "Bearer " + ADMIN).statusCode()).isEqualTo(200);

        HttpResponse<String> refused = get("/metrics", "Bearer " + RESOLVER);

        assertThat(refused.statusCode()).isEqualTo(403);
        assertThat(refused.body()).contains("problems/forbidden", "\"scope\":\"admin\"");
        assertThat(refused.headers().firstValue("WWW-Authenticate"))
                .contains("Bearer realm=\"puri\", error=\"insufficient_scope\", scope=\"admin\"");
        assertThat(get("/resolve", "Bearer " + ADMIN).statusCode()).isEqualTo(403);
        assertThat(denied("scope")).isEqualTo(2);
    }

    @Test
    void invalidTokensAre401() throws Exception {
        for (String header : List.of(
                "Bearer " + RESOLVER + "x",
                "Bearer " + RESOLVER.substring(1),
                "Bearer " + sha256(RESOLVER),
                "Bearer ",
                "Bearer a b",
                "Bearer " + RESOLVER + ',' + ADMIN,
                "Basic " + RESOLVER,
                RESOLVER,
                "Bearer eyJhbGciOiJub25lIn0.eyJzY29wZSI6ImFkbWluIn0.",
                "Bearer " + "x".repeat(9000))) {
            HttpResponse<String> response = get("/resolve", header);

            assertThat(response.statusCode()).as(header).isEqualTo(401);
            assertThat(response.headers().firstValue("WWW-Authenticate"))
                    .contains("Bearer realm=\"puri\", error=\"invalid_token\"");
        }
        assertThat(RawHttp1.ask(
                        listener.port(),
                        "GET /resolve HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer "
                                + RESOLVER + "\r\nAuthorization: Bearer " + RESOLVER + "\r\n\r\n"))
                .startsWith("HTTP/1.1 401 ");
    }

    @Test
    void aRefusedBodyDoesNotHarmTheNextRequest() throws IOException {
        String refused = "POST /resolve HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc";
        String taken =
                "POST /resolve HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 3\r\nAuthorization: Bearer "
                        + RESOLVER + "\r\n\r\nxyz";

        assertThat(RawHttp1.ask(listener.port(), refused + taken))
                .startsWith("HTTP/1.1 401 ")
                .contains("HTTP/1.1 200 ")
                .endsWith("xyz");
    }

    @Test
    void tokensAreInNoLogAndInNoMessage() {
        String answers = get("/resolve", "Bearer " + RESOLVER).headers().map()
                + get("/metrics", "Bearer " + RESOLVER).body()
                + get("/resolve", "Bearer " + RESOLVER + "x").body()
                + get("/resolve", "Basic " + RESOLVER).body()
                + get("/metrics", "Bearer " + ADMIN).body();

        assertThat(logged.list).extracting(ILoggingEvent::getFormattedMessage).contains("Answered");
        String all = answers
                + logged.list.stream()
                        .map(event -> event.getFormattedMessage() + event.getKeyValuePairs())
                        .toList();
        assertThat(all).contains("services").doesNotContain(RESOLVER).doesNotContain(ADMIN);
    }

    @Test
    void replacedTokensAreReloaded() throws Exception {
        replaceTokens("ops resolve " + sha256(ADMIN) + "\n");
        awaitStatus(200, ADMIN);
        assertThat(get("/resolve", "Bearer " + RESOLVER).statusCode()).isEqualTo(401);

        replaceTokens("nonsense\n");
        for (int i = 0; i < 50; i++) {
            assertThat(get("/resolve", "Bearer " + ADMIN).statusCode()).isEqualTo(200);
        }
        replaceTokens("\n");
        awaitStatus(401, ADMIN);
    }

    @Test
    void anonymousScopesNeedNoToken() {
        listener.close();
        start(ListenerOptions.at("127.0.0.1", 0).openTo(Scope.RESOLVE));

        assertThat(get("/resolve", null).statusCode()).isEqualTo(200);
        assertThat(get("/changes", null).statusCode()).isEqualTo(401);
    }

    @Test
    void aFileOfTokensThatCannotBeUsedIsNamedByItsLine() throws IOException {
        for (String line : List.of(
                "name resolve",
                "name resolve 12",
                "name none " + "0".repeat(64),
                "name resolve,root " + "0".repeat(64),
                "name resolve " + "g".repeat(64),
                "a name resolve " + "0".repeat(64))) {
            Path file = Files.writeString(folder.resolve("bad"), "# one\n" + line + "\n");
            assertThatThrownBy(() -> Listener.start(
                            ListenerOptions.at("127.0.0.1", 0)
                                    .with(RunningListener.http(Map.of("auth.tokens", file.toString()))),
                            List.of(),
                            metrics))
                    .as(line)
                    .isInstanceOf(CannotListenException.class)
                    .hasMessageContaining("line 2 of " + file)
                    .hasMessageNotContaining(line);
        }
    }

    @Test
    void aKeySetWithoutIssuerAndAudienceIsAMistake() {
        assertThatThrownBy(() -> RunningListener.http(Map.of("auth.jwks", "https://issuer/keys")))
                .isInstanceOf(InvalidSettingsException.class)
                .hasMessageContaining("PURI_AUTH_ISSUER");
        for (String algorithm : List.of("none", "HS256", "EdDSA", "rs256")) {
            assertThatThrownBy(() -> RunningListener.http(Map.of("auth.algorithms", "RS256," + algorithm)))
                    .as(algorithm)
                    .isInstanceOf(InvalidSettingsException.class)
                    .hasMessageContaining('"' + algorithm + '"');
        }
    }

    @Test
    void cachesVerifiedTokensUpToItsMaximumSize() {
        VerifiedTokens cache = new VerifiedTokens(100, Duration.ofMinutes(1));
        TokenHash first = TokenHash.of("0");
        for (int i = 0; i < 10_000; i++) {
            cache.add(TokenHash.of(Integer.toString(i)), new Authorization("x", Set.of(), 1_000));
            assertThat(cache.size()).isLessThanOrEqualTo(100);
            // A token in use is not evicted.
            assertThat(cache.find(first, 0)).isNotNull();
        }
        assertThat(cache.find(TokenHash.of("1"), 0)).isNull();
        assertThat(cache.find(first, 999)).isNotNull();
        assertThat(cache.find(first, 1_000)).isNull();
    }

    private void replaceTokens(String content) throws IOException {
        Path next = Files.writeString(folder.resolve("next"), content);
        Files.move(next, tokens, StandardCopyOption.ATOMIC_MOVE);
    }

    private void awaitStatus(int status, String token) {
        for (long until = System.nanoTime() + 20_000_000_000L;
                get("/resolve", "Bearer " + token).statusCode() != status; ) {
            assertThat(System.nanoTime()).as("still waiting for %d", status).isLessThan(until);
        }
    }

    private double denied(String reason) {
        return metrics.registry()
                .get("puri.auth.denied")
                .tag("reason", reason)
                .counter()
                .count();
    }

    private HttpResponse<String> get(String path, @Nullable String authorization) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + listener.port() + path));
        if (authorization != null) {
            request.header("Authorization", authorization);
        }
        return client.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString())
                .join();
    }

    private static void hello(Exchange exchange) {
        exchange.answer(200, "text/plain", "hello".getBytes(StandardCharsets.UTF_8));
    }

    private static String sha256(String text) throws Exception {
        return HexFormat.of()
                .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
    }
}

package dev.puri.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpServer;
import io.vertx.core.Context;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class JwtAccessTest {
    private static final String ISSUER = "https://issuer.example";
    private static final RSAKey KEY;
    private static final ECKey EC_KEY;

    static {
        try {
            KEY = new RSAKeyGenerator(2048).keyID("one").generate();
            EC_KEY = new ECKeyGenerator(Curve.P_256).keyID("two").generate();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private final Metrics metrics = new Metrics();
    private final HttpClient client = HttpClient.newHttpClient();
    private final AtomicInteger asked = new AtomicInteger();
    private volatile CountDownLatch answering = new CountDownLatch(0);
    private volatile JWKSet keys = new JWKSet(KEY.toPublicJWK());
    private volatile int keysStatus = 200;
    private HttpServer issuer;
    private Listener listener;

    @BeforeEach
    void start() throws Exception {
        issuer = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        issuer.createContext("/keys", exchange -> {
            asked.incrementAndGet();
            try {
                answering.await(30, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            byte[] body = keys.toString().getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(keysStatus, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        issuer.start();
        // Short, so that keys are fetched again during the test.
        start(new JwtVerifier.KeyCacheTimes(Duration.ofMillis(50), Duration.ofMillis(30), Duration.ofHours(1)));
    }

    private void start(JwtVerifier.KeyCacheTimes times) {
        Route resolve = Route.get(
                "/resolve",
                Scope.RESOLVE,
                exchange -> exchange.answer(
                        200,
                        "text/plain",
                        (Context.isOnEventLoopThread() ? "loop" : "worker").getBytes(StandardCharsets.UTF_8)));
        Route stats = Route.get("/stats", Scope.ADMIN, exchange -> exchange.answer(200, "text/plain", new byte[0]));
        Route open = Route.get("/open", Scope.NONE, exchange -> exchange.answer(200, "text/plain", new byte[0]));
        listener = Listener.start(
                ListenerOptions.at("127.0.0.1", 0)
                        .onOneThread()
                        .with(RunningListener.http(Map.of(
                                "auth.jwks",
                                "http://127.0.0.1:" + issuer.getAddress().getPort() + "/keys",
                                "auth.issuer",
                                ISSUER,
                                "auth.audience",
                                "puri",
                                "auth.clock.skew",
                                "1s"))),
                List.of(resolve, stats, open),
                metrics,
                Duration.ofMinutes(1),
                times);
    }

    @AfterEach
    void stop() {
        listener.close();
        issuer.stop(0);
        metrics.close();
        client.close();
    }

    @Test
    void aTokenOfTheIssuerIsValidForItsScopes() throws Exception {
        String token = signed(claims -> claims.claim("scope", "openid resolve"));

        assertThat(get("/resolve", token).body()).isEqualTo("loop");
        assertThat(get("/stats", token).statusCode()).isEqualTo(403);
        assertThat(get("/stats", signed(claims -> claims.claim("scp", List.of("admin"))))
                        .statusCode())
                .isEqualTo(200);
        assertThat(get("/stats", signed(claims -> claims)).statusCode()).isEqualTo(403);
        assertThat(asked.get()).isPositive();
    }

    @Test
    void algNoneIsRefused() {
        String none = new PlainJWT(good(claims -> claims.claim("scope", "resolve"))).serialize();

        assertRefused(none, "signature");
    }

    @Test
    void hmacWithThePublicKeyIsRefused() throws Exception {
        byte[] secret = KEY.toRSAPublicKey().getEncoded();

        assertRefused(
                signed(JWSAlgorithm.HS256, "one", new MACSigner(secret), good(c -> c.claim("scope", "resolve"))),
                "signature");
    }

    @Test
    void anAlgorithmThatIsNotPinnedIsRefused() throws Exception {
        assertRefused(
                signed(JWSAlgorithm.RS512, "one", new RSASSASigner(KEY), good(c -> c.claim("scope", "resolve"))),
                "signature");
    }

    @Test
    void aKeyInTheTokensHeaderIsNotUsed() throws Exception {
        keys = new JWKSet(EC_KEY.toPublicJWK());
        ECKey own = new ECKeyGenerator(Curve.P_256).keyID("two").generate();
        SignedJWT token = new SignedJWT(
                new JWSHeader.Builder(JWSAlgorithm.ES256)
                        .keyID("two")
                        .jwk(own.toPublicJWK())
                        .build(),
                good(c -> c.claim("scope", "resolve")));
        token.sign(new ECDSASigner(own));

        assertRefused(token.serialize(), "signature");
    }

    @Test
    void aTokenOfAnotherKindIsRefused() throws Exception {
        SignedJWT token = new SignedJWT(
                new JWSHeader.Builder(JWSAlgorithm.RS256)
                        .keyID("one")
                        .type(new JOSEObjectType("logout+jwt"))
                        .build(),
                good(c -> c.claim("scope", "resolve")));
        token.sign(new RSASSASigner(KEY));

        assertRefused(token.serialize(), "signature");
    }

    @Test
    void wrongIssuerAudienceExpiredAndNotYetAreRefused() throws Exception {
        UnaryOperator<JWTClaimsSet.Builder> resolve = claims -> claims.claim("scope", "resolve");
        assertRefused(signed(c -> resolve.apply(c).issuer("https://other.example")), "claims");
        assertRefused(signed(c -> resolve.apply(c).issuer(null)), "claims");
        assertRefused(signed(c -> resolve.apply(c).audience("others")), "claims");
        assertRefused(signed(c -> resolve.apply(c).audience((String) null)), "claims");
        assertRefused(
                signed(c ->
                        resolve.apply(c).expirationTime(Date.from(Instant.now().minusSeconds(5)))),
                "expired");
        assertRefused(signed(c -> resolve.apply(c).expirationTime(null)), "claims");
        assertRefused(
                signed(c ->
                        resolve.apply(c).notBeforeTime(Date.from(Instant.now().plusSeconds(60)))),
                "claims");
    }

    @Test
    void cachedTokensExpire() throws Exception {
        String token = signed(c -> c.claim("scope", "resolve")
                .expirationTime(Date.from(Instant.now().plusSeconds(1))));
        assertThat(get("/resolve", token).statusCode()).isEqualTo(200);

        // The clock skew makes the token valid one second longer.
        awaitStatus(401, token);
        assertRefused(token, "expired");
    }

    @Test
    void keysRotateWithoutRestart() throws Exception {
        assertThat(get("/resolve", signed(c -> c.claim("scope", "resolve"))).statusCode())
                .isEqualTo(200);
        String byTheNext =
                signed(JWSAlgorithm.ES256, "two", new ECDSASigner(EC_KEY), good(c -> c.claim("scope", "resolve")));
        keys = new JWKSet(List.of(KEY.toPublicJWK(), EC_KEY.toPublicJWK()));

        awaitStatus(200, byTheNext);
    }

    private void awaitStatus(int status, String token) throws Exception {
        for (long until = System.nanoTime() + 20_000_000_000L;
                get("/resolve", token).statusCode() != status; ) {
            assertThat(System.nanoTime()).as("never answered %d", status).isLessThan(until);
            Thread.sleep(10);
        }
    }

    @Test
    void anUnknownKidAsksForKeysAtMostOncePerInterval() throws Exception {
        listener.close();
        start(new JwtVerifier.KeyCacheTimes(Duration.ofMinutes(10), Duration.ofMinutes(9), Duration.ofHours(1)));
        for (int i = 0; i < 20; i++) {
            HttpResponse<String> refused = get(
                    "/resolve",
                    signed(
                            JWSAlgorithm.RS256,
                            "kid" + i,
                            new RSASSASigner(KEY),
                            good(c -> c.claim("scope", "resolve"))));
            assertThat(refused.statusCode()).isEqualTo(401);
        }
        // One fetch at first, and one more in the interval.
        assertThat(asked.get()).isPositive().isLessThanOrEqualTo(2);
        assertThat(get("/resolve", signed(c -> c.claim("scope", "resolve"))).statusCode())
                .isEqualTo(200);
    }

    @Test
    void knownKeysStayValidWhileTheIssuerIsUnreachable() throws Exception {
        assertThat(get("/resolve", signed(c -> c.claim("scope", "resolve"))).statusCode())
                .isEqualTo(200);
        keysStatus = 500;
        int before = asked.get();

        // Each token is new, so each is verified. The keys are outdated by now, and unavailable.
        for (int i = 0; asked.get() < before + 3; i++) {
            String id = Integer.toString(i);
            assertThat(get("/resolve", signed(c -> c.claim("scope", "resolve").jwtID(id)))
                            .statusCode())
                    .isEqualTo(200);
        }
    }

    @Test
    void noTokenCanBeVerifiedWithoutKeys() throws Exception {
        listener.close();
        start(new JwtVerifier.KeyCacheTimes(Duration.ofMinutes(10), Duration.ofMinutes(9), Duration.ofHours(1)));
        keysStatus = 500;
        // After the second request, the verifier does not ask for keys again in this interval.
        for (int i = 0; i < 4; i++) {
            HttpResponse<String> response = get("/resolve", signed(c -> c.claim("scope", "resolve")));

            assertThat(response.statusCode()).isEqualTo(503);
            assertThat(response.body()).contains("problems/cannot-verify");
            assertThat(response.headers().firstValue("Retry-After")).isPresent();
        }
        assertThat(asked.get()).isEqualTo(2);
    }

    @Test
    void verificationIsNotOnTheEventLoop() throws Exception {
        answering = new CountDownLatch(1);
        CompletableFuture<HttpResponse<String>> waiting = send("/resolve", signed(c -> c.claim("scope", "resolve")));
        for (long until = System.nanoTime() + 20_000_000_000L; asked.get() == 0; ) {
            assertThat(System.nanoTime()).isLessThan(until);
        }

        // The only event loop serves other requests while the issuer is slow.
        assertThat(get("/open", "x").statusCode()).isEqualTo(200);
        assertThat(waiting).isNotDone();
        answering.countDown();
        assertThat(waiting.get(20, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
    }

    private void assertRefused(String token, String reason) {
        double before = denied(reason);

        HttpResponse<String> response = get("/resolve", token);

        assertThat(response.statusCode()).as(reason).isEqualTo(401);
        assertThat(response.body()).contains("problems/unauthenticated").doesNotContain(token.substring(0, 20));
        assertThat(denied(reason)).as(reason).isEqualTo(before + 1);
    }

    private double denied(String reason) {
        return metrics.registry()
                .get("puri.auth.denied")
                .tag("reason", reason)
                .counter()
                .count();
    }

    private static JWTClaimsSet good(UnaryOperator<JWTClaimsSet.Builder> but) {
        return but.apply(new JWTClaimsSet.Builder()
                        .issuer(ISSUER)
                        .audience("puri")
                        .subject("some-service")
                        .expirationTime(Date.from(Instant.now().plusSeconds(60))))
                .build();
    }

    private static String signed(UnaryOperator<JWTClaimsSet.Builder> but) throws Exception {
        return signed(JWSAlgorithm.RS256, "one", new RSASSASigner(KEY), good(but));
    }

    private static String signed(JWSAlgorithm algorithm, String kid, JWSSigner signer, JWTClaimsSet claims)
            throws Exception {
        SignedJWT token =
                new SignedJWT(new JWSHeader.Builder(algorithm).keyID(kid).build(), claims);
        token.sign(signer);
        return token.serialize();
    }

    private HttpResponse<String> get(String path, String token) {
        return send(path, token).join();
    }

    private CompletableFuture<HttpResponse<String>> send(String path, String token) {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + listener.port() + path))
                .header("Authorization", "Bearer " + token)
                .build();
        return client.sendAsync(request, HttpResponse.BodyHandlers.ofString());
    }
}

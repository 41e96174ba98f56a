package dev.puri.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.settings.Settings;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class ListenerTest {
    private static final ListenerOptions OPTIONS = ListenerOptions.at("127.0.0.1", 0)
            .withMaxBodyBytes(100)
            .with(http(Map.of(
                    "max.url.bytes", "1000",
                    "max.header.bytes", "2000",
                    "body.timeout", "300ms",
                    "close.grace", "10s")));

    private final HttpClient client = HttpClient.newHttpClient();
    private final Metrics metrics = new Metrics();
    private final Health health = new Health();
    private final AtomicReference<Exchange> held = new AtomicReference<>();
    private final CountDownLatch holding = new CountDownLatch(1);
    private Listener listener;

    @BeforeEach
    void start() {
        List<Route> routes = new ArrayList<>(List.of(
                Route.get("/v1/things/{name}", Scope.NONE, exchange -> text(exchange, exchange.parameter())),
                Route.get("/v1/wait", Scope.NONE, exchange -> text(exchange, String.valueOf(exchange.query("at"))))
                        .withQueryParameters("at"),
                Route.post(
                        "/v1/echo",
                        Scope.NONE,
                        exchange -> exchange.readBody(body -> exchange.answer(200, "text/plain", body))),
                Route.get("/v1/bug", Scope.NONE, exchange -> {
                    throw new IllegalStateException("secret of the house");
                }),
                Route.get("/v1/error", Scope.NONE, exchange -> {
                    throw new StackOverflowError("secret of the house");
                }),
                Route.get(
                        "/v1/unwritable",
                        Scope.NONE,
                        exchange -> exchange.json(200, json -> {
                            throw new OutOfMemoryError("not really");
                        })),
                Route.get("/v1/mark", Scope.NONE, exchange -> text(exchange, "x"))
                        .withHeader(new Route.DynamicHeader("X-Mark", () -> {
                            throw new IllegalStateException("within the answer");
                        })),
                Route.get("/v1/held", Scope.NONE, exchange -> {
                    held.set(exchange);
                    holding.countDown();
                }),
                metrics.route()));
        routes.addAll(health.routes());
        listener = Listener.start(OPTIONS, routes, metrics);
    }

    @AfterEach
    void stop() {
        listener.close();
        metrics.close();
        client.close();
    }

    @Test
    void theParameterArrivesAsItWasSent() {
        assertThat(get("/v1/things/a%2Fb%253A:c+d").body()).isEqualTo("a%2Fb%253A:c+d");
    }

    @Test
    void rawBytesOfThePathAreUtf8OrRefused() throws IOException {
        byte[] utf8 = "é".getBytes(StandardCharsets.UTF_8);
        String latin = new String(utf8, StandardCharsets.ISO_8859_1);

        assertThat(raw("GET /v1/things/" + latin + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 200 ")
                .endsWith("é");
        assertThat(raw("GET /v1/things/\u00e9 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 400 ")
                .contains("bad-request");
    }

    @Test
    void aSlashInTheParameterIsExplained() {
        HttpResponse<String> response = get("/v1/things/a/b");

        assertProblem(response, 404, "no-such-path");
        assertThat(response.body()).contains("%2F");
    }

    @Test
    void anUnknownPathIs404WithTheKnownPaths() {
        assertProblem(get("/v1/thing"), 404, "no-such-path");
        assertProblem(get("/v1/things/"), 404, "no-such-path");
        assertThat(get("/").body()).contains("/v1/things/{name}");
    }

    @Test
    void anotherMethodIs405WithTheAllowedOnes() {
        HttpResponse<String> response = send(request("/v1/echo").DELETE());

        assertProblem(response, 405, "method-not-allowed");
        assertThat(response.headers().firstValue("Allow")).contains("POST");
        assertThat(send(request("/v1/things/a").DELETE()).headers().firstValue("Allow"))
                .contains("GET, HEAD");
    }

    @Test
    void headHasTheHeadersOfGetAndNoBody() {
        HttpResponse<String> response =
                send(request("/v1/things/abc").method("HEAD", HttpRequest.BodyPublishers.noBody()));

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.headers().firstValue("Content-Length")).contains("3");
        assertThat(response.body()).isEmpty();
    }

    @Test
    void unknownQueryParametersAreNamed() {
        HttpResponse<String> response = get("/v1/wait?att=1&at=2");

        assertProblem(response, 400, "unknown-parameter");
        assertThat(response.body()).contains("\"unknown\":[\"att\"]").contains("accepts at");
        assertThat(get("/v1/wait?at=3%2D1").body()).isEqualTo("3-1");
        assertThat(get("/v1/things/a?").statusCode()).isEqualTo(200);
    }

    @Test
    void aQueryThatCannotBeDecodedIsRefused() throws IOException {
        for (String query : List.of("at=%zz", "%", "at=%2", "%FF=1", "%00=1", "\u00ff", "%ED%A0%80=1")) {
            assertThat(raw("GET /v1/wait?" + query + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
                    .as(query)
                    .startsWith("HTTP/1.1 400 ");
        }
        assertThat(raw("GET /metrics?% HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 200 ");
    }

    @Test
    void aBodyWithinBoundsIsRead() {
        assertThat(post("x".repeat(100)).body()).isEqualTo("x".repeat(100));
    }

    @Test
    void aTooLargeBodyIsRefusedWithOrWithoutContentLength() throws IOException {
        assertProblem(post("x".repeat(101)), 413, "body-too-large");
        String chunk = "40\r\n" + "x".repeat(64) + "\r\n";

        String answer =
                raw("POST /v1/echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk + chunk);

        assertThat(answer).startsWith("HTTP/1.1 413 ").contains("body-too-large");
    }

    @Test
    void aClientThatIsStillSendingReceivesTheRefusalOfItsBody() throws IOException {
        int length = 8 << 20;
        String head = "POST /v1/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + length + "\r\n\r\n";

        assertThat(raw(head + "x".repeat(length))).startsWith("HTTP/1.1 413 ").contains("body-too-large");
    }

    @Test
    void aSlowBodyTimesOut() throws IOException {
        ListenerOptions impatient = OPTIONS.onOneThread().with(http(Map.of("body.timeout", "200ms")));
        Route echo = Route.post(
                "/v1/echo",
                Scope.NONE,
                exchange -> exchange.readBody(body -> exchange.answer(200, "text/plain", body)));
        try (Metrics others = new Metrics();
                Listener other = Listener.start(impatient, List.of(echo), others)) {
            String answer =
                    raw(other.port(), "POST /v1/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\nx");

            assertThat(answer).startsWith("HTTP/1.1 408 ").contains("body-too-slow", "200 ms");
        }
    }

    @Test
    void linesAndHeadersBeyondBoundsAreRefused() throws IOException {
        assertThat(raw("GET /" + "x".repeat(1100) + " HTTP/1.1\r\nHost: localhost\r\n\r\n"))
                .startsWith("HTTP/1.0 414 ")
                .contains("url-too-long");
        assertThat(raw("GET /v1/wait HTTP/1.1\r\nHost: localhost\r\nX: " + "x".repeat(2100) + "\r\n\r\n"))
                .startsWith("HTTP/1.1 431 ")
                .contains("headers-too-large");
    }

    @Test
    void refusesOtherProtocols() throws IOException {
        assertThat(raw("GET /v1/wait HTTP/9.9.9\r\n\r\n"))
                .startsWith("HTTP/1.0 400 ")
                .contains("bad-request");
    }

    @Test
    void aBugIs500WithoutDetails() {
        HttpResponse<String> response = get("/v1/bug");

        assertProblem(response, 500, "internal");
        assertThat(response.body()).contains("\"instance\":\"urn:uuid:").doesNotContain("house");
    }

    @Test
    void anErrorOfAnEndpointIsAnsweredAndOthersAreToo() throws IOException {
        for (String path : List.of("/v1/error", "/v1/unwritable")) {
            HttpResponse<String> response = get(path);
            assertProblem(response, 500, "internal");
            assertThat(response.body()).doesNotContain("house", "really");
        }
        // If writing a response fails, there is no second response; the connection closes.
        assertThat(raw("GET /v1/mark HTTP/1.1\r\nHost: localhost\r\n\r\n")).isEmpty();
        assertThat(get("/v1/wait").statusCode()).isEqualTo(200);
    }

    @Test
    void anErrorInALaterPartIsAnswered() throws Exception {
        CompletableFuture<HttpResponse<String>> answer =
                client.sendAsync(request("/v1/held").build(), HttpResponse.BodyHandlers.ofString());
        assertThat(holding.await(10, TimeUnit.SECONDS)).isTrue();

        held.get().runOnEventLoop(() -> {
            throw new NoClassDefFoundError("secret of the house");
        });

        assertProblem(answer.get(10, TimeUnit.SECONDS), 500, "internal");
    }

    @Test
    void anUnansweredRequestGetsAResponseAtItsDeadline() throws Exception {
        CountDownLatch gone = new CountDownLatch(1);
        AtomicReference<EventStream> stream = new AtomicReference<>();
        List<Route> routes = List.of(
                Route.get("/v1/never", Scope.NONE, exchange -> exchange.onCancel(gone::countDown)),
                Route.get(
                        "/v1/stream",
                        Scope.NONE,
                        exchange -> stream.set(
                                exchange.events(new EventStream.Options(1000, Duration.ofMinutes(1)), end -> {}))));
        ListenerOptions impatient = OPTIONS.onOneThread().with(http(Map.of("answer.timeout", "100ms")));
        try (Metrics others = new Metrics();
                Listener other = Listener.start(impatient, routes, others);
                RawHttp1 streaming = new RawHttp1(other.port())) {
            streaming.send("GET /v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
            streaming.until("\r\n\r\n");
            for (int i = 0; i < 3; i++) {
                HttpResponse<String> late =
                        send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + other.port() + "/v1/never")));
                assertProblem(late, 503, "answer-too-slow");
                assertThat(late.headers().firstValue("Retry-After")).contains("1");
            }
            assertThat(gone.await(10, TimeUnit.SECONDS)).isTrue();
            stream.get().end(ServerSentEvent.encoded("data: last\n\n".getBytes(StandardCharsets.UTF_8)));
            streaming.until("last");
        }
    }

    @Test
    void aRequestOfADisconnectedClientIsRemovedAtOnce() throws Exception {
        List<Route> routes = List.of(
                Route.get("/v1/never", Scope.NONE, exchange -> {}),
                Route.post("/v1/body", Scope.NONE, exchange -> exchange.readBody(body -> {})));
        ListenerOptions impatient = OPTIONS.onOneThread().with(http(Map.of("answer.timeout", "1s")));
        try (Metrics others = new Metrics();
                Listener other = Listener.start(impatient, routes, others)) {
            for (String request : List.of(
                    "GET /v1/never HTTP/1.1\r\nHost: localhost\r\n\r\n",
                    "POST /v1/body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90\r\n\r\nbegun")) {
                try (RawHttp1 leaving = new RawHttp1(other.port())) {
                    leaving.send(request);
                }
            }

            // Its deadline is later than those of the other requests.
            HttpResponse<String> late =
                    send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + other.port() + "/v1/never")));

            assertProblem(late, 503, "answer-too-slow");
            assertThat(others.registry()
                            .get("puri.http.limited")
                            .tag("limit", "answer-too-slow")
                            .counter()
                            .count())
                    .isEqualTo(1);
        }
    }

    @Test
    void healthIsDownWhileACheckIs() {
        assertThat(get("/health/ready").body()).isEqualTo("{\"status\":\"UP\",\"checks\":[]}\n");
        health.add(Health.Kind.READY, "table", () -> Health.State.down(Map.of("rows", 7L)));

        HttpResponse<String> down = get("/health/ready");

        assertThat(down.statusCode()).isEqualTo(503);
        assertThat(down.body())
                .isEqualTo("{\"status\":\"DOWN\",\"checks\":[{\"name\":\"table\",\"status\":\"DOWN\",\"data\":"
                        + "{\"rows\":7}}]}\n");
        assertThat(get("/health/live").statusCode()).isEqualTo(200);
        assertThat(get("/health/started").statusCode()).isEqualTo(200);
    }

    @Test
    void bareHealthHasNoDetails() {
        health.add(Health.Kind.READY, "table", () -> Health.State.down(Map.of("rows", 7L)));
        try (Listener bare = Listener.start(OPTIONS.named("public"), health.bareRoutes(), metrics)) {
            String base = "http://127.0.0.1:" + bare.port() + "/health/";
            HttpResponse<String> ready = send(HttpRequest.newBuilder(URI.create(base + "ready")));

            assertThat(ready.statusCode()).isEqualTo(503);
            assertThat(ready.body()).isEqualTo("{\"status\":\"DOWN\",\"checks\":[]}\n");
            assertThat(send(HttpRequest.newBuilder(URI.create(base + "live"))).statusCode())
                    .isEqualTo(200);
            assertThat(send(HttpRequest.newBuilder(URI.create(base + "started")))
                            .statusCode())
                    .isEqualTo(404);
        }
    }

    @Test
    void aHealthCheckNeedsNoMoreThanASocket() throws IOException {
        assertThat(raw("GET /health/ready HTTP/1.0\r\n\r\n")).startsWith("HTTP/1.0 200 ");
    }

    @Test
    void metricsCountRequestsByRouteAndStatus() {
        get("/v1/things/a");
        get("/v1/nothing");

        String scraped = get("/metrics").body();

        assertThat(scraped)
                .contains(
                        "puri_http_requests_seconds_count{listener=\"internal\",method=\"GET\",route=\"/v1/things/{name}\",status=\"200\"} 1")
                .contains(
                        "puri_http_requests_seconds_count{listener=\"internal\",method=\"GET\",route=\"/unrouted\",status=\"404\"} 1")
                .contains("jvm_memory_used_bytes");
    }

    @Test
    void anAnswerMayComeLaterFromAnotherThread() throws Exception {
        CompletableFuture<HttpResponse<String>> answer =
                client.sendAsync(request("/v1/held").build(), HttpResponse.BodyHandlers.ofString());
        assertThat(holding.await(10, TimeUnit.SECONDS)).isTrue();
        Exchange exchange = held.get();

        exchange.runOnEventLoop(() -> text(exchange, Thread.currentThread().getName()));
        exchange.runOnEventLoop(() -> text(exchange, "a second answer is ignored"));

        assertThat(answer.get(10, TimeUnit.SECONDS).body()).contains("eventloop");
    }

    @Test
    void aBugInALaterPartIs500() throws Exception {
        CompletableFuture<HttpResponse<String>> answer =
                client.sendAsync(request("/v1/held").build(), HttpResponse.BodyHandlers.ofString());
        assertThat(holding.await(10, TimeUnit.SECONDS)).isTrue();

        held.get().runOnEventLoop(() -> {
            throw new IllegalStateException("secret of the house");
        });

        assertProblem(answer.get(10, TimeUnit.SECONDS), 500, "internal");
    }

    @Test
    void reportsAClientThatDisconnectsBeforeTheResponse() throws Exception {
        CountDownLatch gone = new CountDownLatch(1);
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
            socket.getOutputStream()
                    .write("GET /v1/held HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(holding.await(10, TimeUnit.SECONDS)).isTrue();
            held.get().runOnEventLoop(() -> held.get().onCancel(gone::countDown));
        }

        assertThat(gone.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(held.get().isOver()).isTrue();
    }

    @Test
    void aWaitEndsUnlessItIsCancelled() throws Exception {
        CompletableFuture<HttpResponse<String>> answer =
                client.sendAsync(request("/v1/held").build(), HttpResponse.BodyHandlers.ofString());
        assertThat(holding.await(10, TimeUnit.SECONDS)).isTrue();
        Exchange exchange = held.get();

        exchange.runOnEventLoop(() -> {
            exchange.after(Duration.ofMillis(1), () -> text(exchange, "cancelled"))
                    .run();
            exchange.after(Duration.ofMillis(50), () -> text(exchange, "waited"));
        });

        assertThat(answer.get(10, TimeUnit.SECONDS).body()).isEqualTo("waited");
    }

    @Test
    void anInFlightRequestEndsBeforeTheListenerCloses() throws Exception {
        CompletableFuture<HttpResponse<String>> answer =
                client.sendAsync(request("/v1/held").build(), HttpResponse.BodyHandlers.ofString());
        assertThat(holding.await(10, TimeUnit.SECONDS)).isTrue();

        CompletableFuture<Void> closed = CompletableFuture.runAsync(listener::close);
        assertThat(closed).isNotDone();
        held.get().runOnEventLoop(() -> text(held.get(), "late"));

        assertThat(answer.get(10, TimeUnit.SECONDS).body()).isEqualTo("late");
        closed.get(15, TimeUnit.SECONDS);
        assertThatThrownBy(() -> get("/v1/wait")).hasCauseInstanceOf(ConnectException.class);
    }

    @Test
    void aPortThatIsTakenIsNamed() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThatThrownBy(() ->
                            Listener.start(ListenerOptions.at("127.0.0.1", taken.getLocalPort()), List.of(), metrics))
                    .isInstanceOf(CannotListenException.class)
                    .hasMessageStartingWith("cannot listen on 127.0.0.1:" + taken.getLocalPort() + ": ");
        }
    }

    @Test
    void twoListenersLiveInOneJvm() {
        Route who = Route.get("/v1/things/{name}", Scope.NONE, exchange -> text(exchange, "public"));
        ListenerOptions options = OPTIONS.onOneThread().named("public");
        try (Listener other = Listener.start(options, List.of(who), metrics)) {
            assertThat(other.port()).isNotEqualTo(listener.port()).isPositive();
            send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + other.port() + "/v1/things/a")));
            get("/v1/things/a");

            assertThat(get("/metrics").body())
                    .contains("puri_http_requests_seconds_count{listener=\"public\",method=\"GET\",")
                    .contains("puri_http_requests_seconds_count{listener=\"internal\",method=\"GET\",");
        }
        assertThat(get("/v1/wait").statusCode()).isEqualTo(200);
    }

    static HttpSettings http(Map<String, String> settings) {
        return Settings.read(HttpSettings.class, settings, Map.of(), null);
    }

    private static void text(Exchange exchange, String text) {
        exchange.answer(200, "text/plain", text.getBytes(StandardCharsets.UTF_8));
    }

    private static void assertProblem(HttpResponse<String> response, int status, String name) {
        assertThat(response.statusCode()).isEqualTo(status);
        assertThat(response.headers().firstValue("Content-Type")).contains("application/problem+json");
        assertThat(response.body())
                .contains("\"type\":\"https://puri.dev/problems/" + name + "\"")
                .contains("\"status\":" + status);
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + listener.port() + path));
    }

    private HttpResponse<String> get(String path) {
        return send(request(path));
    }

    private HttpResponse<String> post(String body) {
        return send(request("/v1/echo").POST(HttpRequest.BodyPublishers.ofString(body)));
    }

    private HttpResponse<String> send(HttpRequest.Builder request) {
        return client.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString())
                .join();
    }

    /** Sends the bytes and returns all bytes that the server sends until it closes the connection. */
    private String raw(String request) throws IOException {
        return raw(listener.port(), request);
    }

    private static String raw(int port, String request) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(30_000);
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            InputStream answer = socket.getInputStream();
            return new String(answer.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}

package dev.puri.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.settings.Settings;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/** Base of tests of a listener: it runs with a route for each way of answering. */
@Timeout(60)
abstract class RunningListener {
    static final ListenerOptions OPTIONS = ListenerOptions.at("127.0.0.1", 0)
            .withMaxBodyBytes(100)
            .with(http(Map.of(
                    "max.url.bytes", "1000",
                    "max.header.bytes", "2000",
                    "body.timeout", "300ms",
                    "close.grace", "10s")));

    final HttpClient client = HttpClient.newHttpClient();
    final Metrics metrics = new Metrics();
    final Health health = new Health();
    final AtomicReference<Exchange> held = new AtomicReference<>();
    final CountDownLatch holding = new CountDownLatch(1);
    Listener listener;

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

    static HttpSettings http(Map<String, String> settings) {
        return Settings.read(HttpSettings.class, settings, Map.of(), null);
    }

    static void text(Exchange exchange, String text) {
        exchange.answer(200, "text/plain", text.getBytes(StandardCharsets.UTF_8));
    }

    static void assertProblem(HttpResponse<String> response, int status, String name) {
        assertThat(response.statusCode()).isEqualTo(status);
        assertThat(response.headers().firstValue("Content-Type")).contains("application/problem+json");
        assertThat(response.body())
                .contains("\"type\":\"https://puri.dev/problems/" + name + "\"")
                .contains("\"status\":" + status);
    }

    HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + listener.port() + path));
    }

    HttpResponse<String> get(String path) {
        return send(request(path));
    }

    HttpResponse<String> send(HttpRequest.Builder request) {
        return client.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString())
                .join();
    }

    /** Sends the bytes and returns all bytes that the server sends until it closes the connection. */
    String raw(String request) throws IOException {
        return raw(listener.port(), request);
    }

    static String raw(int port, String request) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(30_000);
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            InputStream answer = socket.getInputStream();
            return new String(answer.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}

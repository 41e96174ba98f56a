package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.puri.http.Listener;
import dev.puri.http.ListenerOptions;
import dev.puri.http.Metrics;
import dev.puri.http.Route;
import dev.puri.http.Scope;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class SearchTest {
    private final Metrics metrics = new Metrics();
    private final HttpClient client = HttpClient.newHttpClient();
    private final AtomicReference<String> asked = new AtomicReference<>("nothing");
    private HttpServer indexer;
    private String mediaType = "application/json";
    private int status = 200;
    private volatile CountDownLatch mayEnd = new CountDownLatch(0);
    private String body = "{\"total\":1}";

    @BeforeEach
    void start() throws IOException {
        indexer = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        indexer.createContext("/", this::answer);
        indexer.start();
    }

    @AfterEach
    void stop() {
        mayEnd.countDown();
        indexer.stop(0);
        metrics.close();
        client.close();
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            asked.set(exchange.getRequestURI() + " "
                    + exchange.getRequestHeaders().getFirst("Authorization"));
            exchange.getResponseHeaders().set("Content-Type", mediaType);
            exchange.getResponseHeaders().set("Puri-Index-Lag", "7");
            exchange.getResponseHeaders().set("X-Of-Its-Own", "secret");
            exchange.sendResponseHeaders(status, 0);
            exchange.getResponseBody().write(body.getBytes(StandardCharsets.UTF_8));
            exchange.getResponseBody().flush();
            mayEnd.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private HttpResponse<String> get(Search search, String query) throws Exception {
        List<Route> routes =
                List.of(Route.get("/v1/search", Scope.RESOLVE, search::forward).withQueryParameters(Search.PARAMETERS));
        try (search;
                Listener listener = Listener.start(ListenerOptions.at("127.0.0.1", 0), routes, metrics)) {
            return client.send(
                    HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + listener.port() + "/v1/search" + query))
                            .header("Authorization", "Bearer x")
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
        }
    }

    private Search passing() {
        return new Search(indexerUrl());
    }

    private URI indexerUrl() {
        return URI.create("http://127.0.0.1:" + indexer.getAddress().getPort() + "/");
    }

    @Test
    void aResponseThatDoesNotEndIsUnavailable() throws Exception {
        mayEnd = new CountDownLatch(1);

        HttpResponse<String> answer = get(new Search(indexerUrl(), Duration.ofMillis(300)), "?q=x");

        assertThat(answer.statusCode()).isEqualTo(503);
        assertThat(answer.body()).contains("did not send a complete response in time");
    }

    @Test
    void forwardsAFullPageButNoFarLargerResponse() throws Exception {
        body = "[\"" + "x".repeat(1_100_000) + "\"]";
        assertThat(get(passing(), "?limit=1000").body()).isEqualTo(body);

        body = "[\"" + "x".repeat(5_000_000) + "\"]";
        assertThat(get(passing(), "?limit=1000").statusCode()).isEqualTo(503);
    }

    @Test
    void forwardsQueryAndTokenAndReturnsTheResponse() throws Exception {
        HttpResponse<String> answer = get(passing(), "?q=s%C3%A3o%20%26x%3D1&shard=a&shard=b&limit=3");
        assertThat(asked.get()).isEqualTo("/v1/search?q=s%C3%A3o+%26x%3D1&shard=a&shard=b&limit=3 Bearer x");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo("{\"total\":1}");
        assertThat(answer.headers().firstValue("puri-index-lag")).contains("7");
        assertThat(answer.headers().firstValue("x-of-its-own")).isEmpty();
    }

    @Test
    void forwardsProblemsOfTheIndexerUnchanged() throws Exception {
        status = 400;
        mediaType = "application/problem+json";
        HttpResponse<String> answer = get(passing(), "?order=sideways");
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(answer.body()).isEqualTo("{\"total\":1}");
    }

    @Test
    void doesNotForwardResponsesOfOtherServers() throws Exception {
        mediaType = "text/html";
        HttpResponse<String> answer = get(passing(), "");
        assertThat(answer.statusCode()).isEqualTo(503);
        assertThat(answer.body()).contains("/problems/search-unavailable");
    }

    @Test
    void anUnreachableIndexerIsUnavailableAndWithoutOneThereIsNoSearch() throws Exception {
        Search passing = passing();
        indexer.stop(0);
        HttpResponse<String> away = get(passing, "?q=x");
        assertThat(away.statusCode()).isEqualTo(503);
        assertThat(away.headers().firstValue("retry-after")).contains("1");
        HttpResponse<String> none = get(new Search(null), "?q=x");
        assertThat(none.statusCode()).isEqualTo(404);
        assertThat(none.body()).contains("/problems/no-search");
    }
}

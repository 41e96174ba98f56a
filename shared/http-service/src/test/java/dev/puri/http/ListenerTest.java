package dev.puri.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A listener: its routes, its limits, and its answers to requests that it refuses. */
final class ListenerTest extends RunningListener {
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

    private HttpResponse<String> post(String body) {
        return send(request("/v1/echo").POST(HttpRequest.BodyPublishers.ofString(body)));
    }
}

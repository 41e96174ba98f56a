package dev.puri.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The listener refuses messages that two parsers may frame differently (RFC 9112), and reads nothing after them. */
@Timeout(60)
final class FramingTest {
    private static final String NEXT = "GET /things/smuggled HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    private static final String CHUNKED =
            "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";

    private final Metrics metrics = new Metrics();
    private Listener listener;

    @BeforeEach
    void start() {
        List<Route> routes = List.of(
                Route.get(
                        "/things/{name}",
                        Scope.NONE,
                        exchange ->
                                exchange.answer(200, "a/b", exchange.parameter().getBytes(StandardCharsets.UTF_8))),
                Route.post(
                        "/echo", Scope.NONE, exchange -> exchange.readBody(body -> exchange.answer(200, "a/b", body))));
        listener = Listener.start(ListenerOptions.at("127.0.0.1", 0).onOneThread(), routes, metrics);
    }

    @AfterEach
    void stop() {
        listener.close();
        metrics.close();
    }

    @Test
    void aTransferEncodingOnHttp10IsRefused() throws IOException {
        assertRefused("POST /echo HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
        assertRefused("POST /echo HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n"
                + "Content-Length: 5\r\n\r\n0\r\n\r\n");
    }

    @Test
    void bothChunksAndALengthAreRefused() throws IOException {
        assertRefused(
                "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n"
                        + "0\r\n\r\n");
    }

    @Test
    void aChunkSizeThatIsNotHexadecimalDigitsIsRefused() throws IOException {
        for (String size : List.of(
                "2 3", "2\t", " 2", "2 ;x=y", "0x2", "+2", "-2", "2_", "", ";x", "100000002", "ffffffffffffffff2")) {
            assertRefused(CHUNKED + size + "\r\nab\r\n0\r\n\r\n");
        }
        assertRefused(CHUNKED + "2\r\nab\r\n2 3\r\nab\r\n0\r\n\r\n");
        assertRefused(CHUNKED + "2\r\nabc\r\n0\r\n\r\n");
        assertRefused(CHUNKED + "2\nab\r\n0\r\n\r\n");
    }

    @Test
    void wellFormedChunksAreReadHoweverTheyArrive() throws IOException {
        String request = CHUNKED.replace("Host:", "Connection: close\r\nHost:")
                + "2;name=\"a b\"\r\nab\r\n0A\r\n0123456789\r\n1\r\n!\r\n000\r\nX-Trailer: t\r\n\r\n";
        assertThat(RawHttp1.ask(listener.port(), request))
                .startsWith("HTTP/1.1 200 ")
                .endsWith("ab0123456789!");
        try (RawHttp1 client = new RawHttp1(listener.port())) {
            for (char c : request.toCharArray()) {
                client.send(String.valueOf(c));
            }
            assertThat(client.rest()).startsWith("HTTP/1.1 200 ").endsWith("ab0123456789!");
        }
    }

    @Test
    void requestsBehindChunksAreAnswered() throws IOException {
        String bodies = CHUNKED + "3\r\nabc\r\n0\r\n\r\n" + CHUNKED + "0\r\n\r\n";

        String answers = RawHttp1.ask(
                listener.port(), bodies + "GET /things/last HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");

        assertThat(answers.split("HTTP/1.1 200 OK", -1)).hasSize(4);
        assertThat(answers).endsWith("last");
    }

    @Test
    void aFoldedHeaderIsRefused() throws IOException {
        Map<String, String> heads = new LinkedHashMap<>();
        heads.put("a space", "GET /things/a HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n");
        heads.put("a tab", "GET /things/a HTTP/1.1\r\nHost: localhost\r\nX: a\r\n\tb\r\n\r\n");
        heads.put("nothing else", "GET /things/a HTTP/1.1\r\nHost: localhost\r\nX: a\r\n \r\n\r\n");
        heads.put("a length", "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length:\r\n 5\r\n\r\nabcde");
        heads.put("the first", "GET /things/a HTTP/1.1\r\n Host: localhost\r\n\r\n");
        heads.put("before all", " GET /things/a HTTP/1.1\r\nHost: localhost\r\n\r\n");
        heads.put("a trailer", CHUNKED + "0\r\nX: a\r\n b\r\n\r\n");
        for (Map.Entry<String, String> head : heads.entrySet()) {
            assertRefused(head.getValue());
            try (RawHttp1 client = new RawHttp1(listener.port())) {
                // Split where the decoder has already read the previous lines.
                int half = head.getValue().lastIndexOf(": ") + 1;
                client.send(head.getValue().substring(0, half));
                client.send(head.getValue().substring(half) + NEXT);
                assertThat(client.rest()).as(head.getKey()).contains(" 400 ").doesNotContain(" 200 ");
            }
        }
    }

    @Test
    void exactlyOneHostIsAccepted() throws IOException {
        assertRefused("GET /things/a HTTP/1.1\r\n\r\n");
        assertRefused("GET /things/a HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n");
        assertRefused("GET /things/a HTTP/1.1\r\nhost: localhost\r\nHOST: localhost\r\n\r\n");
        assertRefused("GET /things/a HTTP/1.0\r\nHost: localhost\r\nHost: localhost\r\n\r\n");
        for (String none :
                List.of("", "a b", "localhost:x", "localhost:99999", "[::1", "::1", "a/b", "u@localhost", "é")) {
            assertRefused("GET /things/a HTTP/1.1\r\nHost: " + none + "\r\n\r\n");
        }
        assertThat(RawHttp1.ask(listener.port(), "GET /things/ten HTTP/1.0\r\n\r\n"))
                .contains(" 200 ")
                .endsWith("ten");
    }

    @Test
    void aHeaderNeedsAName() throws IOException {
        assertRefused("GET /things/a HTTP/1.1\r\nHost: localhost\r\n: x\r\n\r\n");
        assertRefused("GET /things/a HTTP/1.1\r\n: x\r\nHost: localhost\r\n\r\n");
        assertRefused("GET /things/a HTTP/1.1\r\nHost: localhost\r\nX : y\r\n\r\n");
        assertRefused("GET /things/a HTTP/1.1\r\nHost: localhost\r\nX\r\n\r\n");
    }

    @Test
    void aHeaderWithASimilarNameIsNotContentLength() throws IOException {
        // The parser of Vert.x compares all letters of this name except one.
        String answer = RawHttp1.ask(
                listener.port(),
                "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Xength: 5\r\n\r\n"
                        + "GET /things/last HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");

        assertThat(answer.split("HTTP/1.1 200 OK", -1)).hasSize(3);
        assertThat(answer).endsWith("last");
    }

    @Test
    void aTargetThatIsNeitherPathNorUrlIsRefused() throws IOException {
        for (String target : List.of(
                "http://[::1",
                "http://[::1/things/a",
                "http:///things/a",
                "http://localhost:x/things/a",
                "http://u@localhost/things/a",
                "ftp://localhost/things/a",
                "things/a",
                "x:y",
                "*")) {
            assertRefused("GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
        }
    }

    private void assertRefused(String request) throws IOException {
        assertThat(RawHttp1.ask(listener.port(), request + NEXT))
                .as(request)
                .matches("(?s)HTTP/1\\.[01] 400 .*")
                .contains("https://puri.dev/problems/bad-request")
                .doesNotContain(" 200 ", "smuggled");
    }
}

package dev.puri.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.testkit.TestCertificates;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
final class Http2Test {
    private static final TestCertificates CERTIFICATES = TestCertificates.shared();
    private static final int MAX_STREAMS = 5;
    private static final int MAX_RESETS = 20;
    private static final int REFUSED_STREAM = 7;
    private static final int ENHANCE_YOUR_CALM = 11;

    @TempDir
    private static Path folder;

    private final Metrics metrics = new Metrics();
    private final BlockingQueue<Exchange> held = new LinkedBlockingQueue<>();
    private final BlockingQueue<byte[]> bodies = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> gone = new LinkedBlockingQueue<>();
    private final BlockingQueue<EventStream> streams = new LinkedBlockingQueue<>();
    private final BlockingQueue<EventStream.End> ended = new LinkedBlockingQueue<>();
    private final HttpClient client =
            HttpClient.newBuilder().sslContext(CERTIFICATES.client(null)).build();
    private Listener listener;

    @BeforeEach
    void start() {
        start("2s");
    }

    private void start(String idleTimeout) {
        List<Route> routes = List.of(
                Route.get("/things/{name}", Scope.NONE, exchange -> text(exchange, exchange.parameter())),
                Route.get("/held", Scope.NONE, exchange -> {
                    exchange.onCancel(() -> gone.add("gone"));
                    held.add(exchange);
                }),
                Route.get(
                        "/changes",
                        Scope.NONE,
                        exchange -> streams.add(
                                exchange.events(new EventStream.Options(1 << 20, Duration.ofMinutes(1)), ended::add))),
                Route.post(
                        "/echo",
                        Scope.NONE,
                        exchange -> exchange.readBody(body -> {
                            bodies.add(body);
                            exchange.answer(200, "a/b", body);
                        })));
        listener = Listener.start(
                ListenerOptions.at("127.0.0.1", 0)
                        .onOneThread()
                        .withMaxBodyBytes(100)
                        .with(RunningListener.http(Map.of(
                                "tls.certificate",
                                CERTIFICATES
                                        .certificate("server", folder.resolve("c"))
                                        .toString(),
                                "tls.key",
                                CERTIFICATES.key("server", folder.resolve("k")).toString(),
                                "max.url.bytes",
                                "1000",
                                "max.header.bytes",
                                "2000",
                                "max.connection.requests",
                                Integer.toString(MAX_STREAMS),
                                "max.resets",
                                Integer.toString(MAX_RESETS),
                                "header.timeout",
                                "2s",
                                "body.timeout",
                                "300ms",
                                "idle.timeout",
                                idleTimeout))),
                routes,
                metrics);
    }

    @AfterEach
    void stop() {
        client.close();
        listener.close();
        metrics.close();
    }

    @Test
    void aRefusedBodyEndsItsStreamAndNoOther() throws Exception {
        // The client sends all three over one connection.
        CompletableFuture<HttpResponse<String>> waiting = send(request("/held"));
        Exchange exchange = held.poll(10, TimeUnit.SECONDS);
        HttpResponse<String> refused = send(request("/echo").POST(HttpRequest.BodyPublishers.ofString("x".repeat(101))))
                .get(20, TimeUnit.SECONDS);
        HttpResponse<String> echoed = send(request("/echo").POST(HttpRequest.BodyPublishers.ofString("abc")))
                .get(20, TimeUnit.SECONDS);
        exchange.runOnEventLoop(() -> text(exchange, "late"));

        assertThat(refused.statusCode()).isEqualTo(413);
        assertThat(refused.version()).isEqualTo(HttpClient.Version.HTTP_2);
        assertThat(refused.headers().firstValue("Connection")).isEmpty();
        assertThat(echoed.body()).isEqualTo("abc");
        assertThat(waiting.get(20, TimeUnit.SECONDS).body()).isEqualTo("late");
        assertThat(metrics.registry().get("puri.http.connections").gauge().value())
                .isEqualTo(1);
    }

    @Test
    void aSlowBodyEndsOnlyItsOwnStream() throws Exception {
        try (RawHttp2 raw = raw()) {
            byte[] head = RawHttp2.head("/echo");
            head[0] = (byte) 0x83; // :method POST
            raw.send(RawHttp2.HEADERS, RawHttp2.END_HEADERS, 1, head);
            raw.send(RawHttp2.DATA, 0, 1, new byte[1]);

            assertThat(status(raw, 1)).isEqualTo("408");
            RawHttp2.Frame reset = raw.next(RawHttp2.RST_STREAM, RawHttp2.GOAWAY);
            assertThat(reset.type()).isEqualTo(RawHttp2.RST_STREAM);
            assertThat(reset.code()).isZero();
            raw.get(3, "/things/abc");
            assertThat(status(raw, 3)).isEqualTo("200");
        }
    }

    @Test
    void aBodyThatIsTooLongDoesNotReachItsHandlerAlthoughItEnds() throws Exception {
        try (RawHttp2 raw = raw()) {
            byte[] head = RawHttp2.head("/echo");
            head[0] = (byte) 0x83; // :method POST
            raw.send(RawHttp2.HEADERS, RawHttp2.END_HEADERS, 1, head);
            raw.send(RawHttp2.DATA, 0, 1, new byte[60]);
            raw.send(RawHttp2.DATA, RawHttp2.END_STREAM, 1, new byte[60]);

            assertThat(status(raw, 1)).isEqualTo("413");
            raw.get(3, "/things/abc");
            assertThat(status(raw, 3)).isEqualTo("200");
        }
        assertThat(bodies).isEmpty();
    }

    @Test
    void aPathThatIsTooLongIs414() throws Exception {
        HttpResponse<String> response = send(request("/" + "x".repeat(1001))).get(20, TimeUnit.SECONDS);

        assertThat(response.version()).isEqualTo(HttpClient.Version.HTTP_2);
        assertThat(response.statusCode()).isEqualTo(414);
        assertThat(response.body()).contains("url-too-long");
    }

    @Test
    void headersThatAreTooLargeAre431() throws Exception {
        try (RawHttp2 raw = raw()) {
            raw.get(1, "/things/a");
            assertThat(status(raw, 1)).isEqualTo("200");
            byte[] head = RawHttp2.head("/held");
            byte[] more = RawHttp2.header("x", "y".repeat(2100));
            raw.send(RawHttp2.HEADERS, RawHttp2.END_STREAM, 3, head);
            raw.send(RawHttp2.CONTINUATION, RawHttp2.END_HEADERS, 3, more);

            assertThat(status(raw, 3)).isEqualTo("431");
        }
        assertThat(held).isEmpty();
    }

    @Test
    void headersWithoutEndEndTheConnection() throws Exception {
        try (RawHttp2 raw = raw()) {
            raw.send(RawHttp2.HEADERS, RawHttp2.END_STREAM, 1, RawHttp2.head("/held"));
            byte[] more = RawHttp2.header("x", "y".repeat(100));

            assertClosed(() -> {
                for (int i = 0; i < 100_000; i++) {
                    raw.send(RawHttp2.CONTINUATION, 0, 1, more);
                }
            });
        }
        assertThat(held).isEmpty();
    }

    @Test
    void aSlowRequestHeadIsDisconnected() throws Exception {
        try (RawHttp2 raw = raw()) {
            // Acknowledged now, because any frame between those of a request's headers is an error.
            raw.next(RawHttp2.SETTINGS);
            raw.send(RawHttp2.HEADERS, RawHttp2.END_STREAM, 1, RawHttp2.head("/held"));

            assertClosed(() -> raw.next(RawHttp2.HEADERS));
        }
    }

    @Test
    void streamsBeyondTheBoundAreRefused() throws Exception {
        try (RawHttp2 raw = raw()) {
            for (int i = 0; i <= MAX_STREAMS; i++) {
                raw.get(1 + 2 * i, "/held");
            }
            RawHttp2.Frame refused = raw.next(RawHttp2.RST_STREAM, RawHttp2.GOAWAY, RawHttp2.HEADERS);

            assertThat(refused.type()).isEqualTo(RawHttp2.RST_STREAM);
            assertThat(refused.stream()).isEqualTo(1 + 2 * MAX_STREAMS);
            assertThat(refused.code()).isEqualTo(REFUSED_STREAM);
            assertThat(held).hasSize(MAX_STREAMS);
        }
    }

    @Test
    void rapidResetsEndTheConnection() throws Exception {
        try (RawHttp2 raw = raw()) {
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 10 * MAX_RESETS; i++) {
                            raw.get(1 + 2 * i, "/held");
                            raw.reset(1 + 2 * i);
                        }
                        RawHttp2.Frame goAway = raw.next(RawHttp2.GOAWAY);
                        throw new IOException(goAway.code() == ENHANCE_YOUR_CALM ? "calm" : "code " + goAway.code());
                    })
                    .satisfiesAnyOf(
                            e -> assertThat(e).hasMessage("calm"),
                            e -> assertThat(e).isInstanceOf(SocketException.class));
        }
        assertThat(held.size()).isLessThanOrEqualTo(MAX_RESETS + 1);
    }

    @Test
    void reportsACancelledStream() throws Exception {
        listener.close();
        start("100ms");
        try (RawHttp2 raw = raw()) {
            raw.get(1, "/held");
            Exchange exchange = held.poll(10, TimeUnit.SECONDS);
            raw.reset(1);

            assertThat(gone.poll(10, TimeUnit.SECONDS)).isEqualTo("gone");
            assertThat(exchange.isOver()).isTrue();
            // A response that nobody waits for keeps no connection open.
            assertClosed(() -> raw.next(RawHttp2.HEADERS));
        }
        assertThat(gone).isEmpty();
    }

    @Test
    void anEventStreamIsOneStreamOfMany() throws Exception {
        try (RawHttp2 raw = raw()) {
            raw.get(1, "/changes");
            EventStream stream = streams.poll(10, TimeUnit.SECONDS);
            assertThat(status(raw, 1)).isEqualTo("200");
            stream.send(ServerSentEvent.of("1", null, "one"));
            StringBuilder data = new StringBuilder();
            while (data.indexOf("one") < 0) {
                data.append(new String(raw.next(RawHttp2.DATA).payload(), StandardCharsets.UTF_8));
            }
            assertThat(data).contains("id: 1\ndata: one\n\n");

            // The flow-control window of the client is 64 KiB.
            ServerSentEvent much = ServerSentEvent.of(null, null, "x".repeat(10_000));
            for (int i = 0; i < 1000 && stream.send(much); i++) {
                assertThat(i).isLessThan(999);
            }
            assertThat(ended.poll(10, TimeUnit.SECONDS)).isEqualTo(EventStream.End.SLOW);
            RawHttp2.Frame reset = raw.next(RawHttp2.RST_STREAM, RawHttp2.GOAWAY);
            assertThat(reset.type()).isEqualTo(RawHttp2.RST_STREAM);
            EventStreamTest.await("nothing pending", () -> stream.pendingBytes() == 0);
            raw.get(3, "/things/abc");
            assertThat(status(raw, 3)).isEqualTo("200");
        }
    }

    private RawHttp2 raw() throws IOException {
        return new RawHttp2(CERTIFICATES.client(null), listener.port());
    }

    /** Returns the status of the response on a stream, from the first byte of its header block (RFC 7541). */
    static String status(RawHttp2 raw, int stream) throws IOException {
        RawHttp2.Frame head = raw.next(RawHttp2.HEADERS);
        assertThat(head.stream()).isEqualTo(stream);
        byte[] block = head.payload();
        return switch (block[0] & 0xff) {
            case 0x88 -> "200";
            case 0x8c -> "400";
            case 0x8d -> "404";
            case 0x8e -> "500";
            default -> statusText(block);
        };
    }

    /** Decodes a literal with the name :status: three digits, plain or in Huffman code (five or six bits each). */
    private static String statusText(byte[] block) {
        int length = block[1] & 0x7f;
        if ((block[1] & 0x80) == 0) {
            return new String(block, 2, length, StandardCharsets.US_ASCII);
        }
        StringBuilder bits = new StringBuilder();
        for (int i = 0; i < length; i++) {
            bits.append(String.format("%8s", Integer.toBinaryString(block[2 + i] & 0xff))
                    .replace(' ', '0'));
        }
        StringBuilder digits = new StringBuilder();
        for (int at = 0; digits.length() < 3; ) {
            int five = Integer.parseInt(bits.substring(at, at + 5), 2);
            if (five < 3) {
                digits.append(five);
                at += 5;
            } else {
                // 3 to 9 are 011001 to 011111.
                digits.append(Integer.parseInt(bits.substring(at, at + 6), 2) - 0b011001 + 3);
                at += 6;
            }
        }
        return digits.toString();
    }

    private static void assertClosed(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOfAny(EOFException.class, SocketException.class);
    }

    @Test
    void requestsOfOneConnectionHaveTheSameConnectionObject() throws Exception {
        List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
        List<Exchange> exchanges = new ArrayList<>();
        // On HTTP/1.1 each waiting request has its own connection.
        for (HttpClient.Version version : List.of(HttpClient.Version.HTTP_1_1, HttpClient.Version.HTTP_2)) {
            for (int i = 0; i < 2; i++) {
                answers.add(send(request("/held").version(version)));
                exchanges.add(held.poll(20, TimeUnit.SECONDS));
            }
        }
        List<Object> connections = exchanges.stream().map(Exchange::connection).toList();
        exchanges.forEach(exchange -> exchange.runOnEventLoop(() -> text(exchange, "late")));

        assertThat(connections.get(2)).isSameAs(connections.get(3));
        assertThat(Set.copyOf(connections)).hasSize(3);
        for (CompletableFuture<HttpResponse<String>> answer : answers) {
            assertThat(answer.get(20, TimeUnit.SECONDS).body()).isEqualTo("late");
        }
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + listener.port() + path));
    }

    private CompletableFuture<HttpResponse<String>> send(HttpRequest.Builder request) {
        return client.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static void text(Exchange exchange, String text) {
        exchange.answer(200, "text/plain", text.getBytes(StandardCharsets.UTF_8));
    }
}

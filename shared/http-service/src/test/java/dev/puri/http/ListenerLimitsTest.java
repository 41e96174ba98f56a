package dev.puri.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

/** Clients that exceed a limit get a problem, or their connection is closed. */
@Isolated("measures the memory of this process")
@Timeout(60)
final class ListenerLimitsTest {
    private static final int MAX_CONNECTIONS = 20;

    private final Metrics metrics = new Metrics();
    private final BlockingQueue<Exchange> held = new LinkedBlockingQueue<>();
    private final AtomicInteger large = new AtomicInteger();
    private final AtomicInteger underWay = new AtomicInteger();
    private final AtomicInteger mostUnderWay = new AtomicInteger();
    private Listener listener;

    @BeforeEach
    void start() {
        byte[] much = new byte[100_000];
        List<Route> routes = List.of(
                Route.get("/things/{name}", Scope.NONE, exchange -> text(exchange, exchange.parameter())),
                Route.get("/large", Scope.NONE, exchange -> {
                    large.incrementAndGet();
                    exchange.answer(200, "text/plain", much);
                }),
                Route.get("/later/{name}", Scope.NONE, exchange -> {
                    mostUnderWay.accumulateAndGet(underWay.incrementAndGet(), Math::max);
                    exchange.after(Duration.ofMillis(5), () -> {
                        underWay.decrementAndGet();
                        text(exchange, '<' + exchange.parameter() + '>');
                    });
                }),
                Route.get("/held", Scope.NONE, held::add),
                Route.post(
                        "/echo", Scope.NONE, exchange -> exchange.readBody(body -> exchange.answer(200, "a/b", body))));
        listener = Listener.start(
                ListenerOptions.at("127.0.0.1", 0)
                        .withMaxBodyBytes(100)
                        .with(RunningListener.http(Map.of(
                                "max.url.bytes", "1000",
                                "max.header.bytes", "2000",
                                "max.connections", Integer.toString(MAX_CONNECTIONS),
                                "header.timeout", "300ms",
                                "body.timeout", "150ms",
                                "idle.timeout", "150ms"))),
                routes,
                metrics);
    }

    @AfterEach
    void stop() {
        listener.close();
        metrics.close();
    }

    @Test
    void eachLimitAnswersItsProblemAndIsCounted() throws IOException {
        String chunk = "40\r\n" + "x".repeat(64) + "\r\n";
        Map<String, String> requests = Map.of(
                "414 url-too-long",
                "GET /" + "x".repeat(1100) + " HTTP/1.1\r\nHost: localhost\r\n\r\n",
                "431 headers-too-large",
                "GET /held HTTP/1.1\r\nHost: localhost\r\nX: " + "x".repeat(2100) + "\r\n\r\n",
                "413 body-too-large",
                "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 101\r\n\r\n",
                "413 body-too-large ",
                "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk + chunk,
                "408 body-too-slow",
                "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx",
                "408 headers-too-slow",
                "GET /held HTTP/1.1\r\nHost: localhost\r\n");
        requests.forEach((problem, request) -> {
            String[] expected = problem.split(" ");
            double before = limited(expected[1]);
            try {
                assertThat(RawHttp1.ask(listener.port(), request))
                        .startsWith("HTTP/1.")
                        .contains(' ' + expected[0] + ' ')
                        .contains("https://puri.dev/problems/" + expected[1] + '"');
            } catch (IOException e) {
                throw new IllegalStateException(problem, e);
            }
            assertThat(limited(expected[1])).as(problem).isEqualTo(before + 1);
        });
    }

    @Test
    void aSlowRequestHeadIsDisconnected() throws IOException {
        try (RawHttp1 client = new RawHttp1(listener.port())) {
            client.send("GET /things/a HTTP/1.1\r\n");

            assertThat(client.drip("X: y\r\n", 10, 1000)).contains("408", "headers-too-slow");
        }
    }

    @Test
    void aSlowSecondRequestHeadIsDisconnected() throws IOException {
        try (RawHttp1 client = new RawHttp1(listener.port())) {
            client.send("GET /things/abc HTTP/1.1\r\nHost: localhost\r\n\r\n");
            client.until("abc");
            client.send("GET /things/a HTTP/1.1\r\n");

            assertThat(client.drip("X: y\r\n", 10, 1000)).isEmpty();
        }
    }

    @Test
    void aGetWithASlowBodyIsDisconnected() throws IOException {
        try (RawHttp1 client = new RawHttp1(listener.port())) {
            client.send("GET /things/abc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n");
            client.until("abc");

            assertThat(client.drip("x", 10, 1000)).isEmpty();
        }
    }

    @Test
    void aConnectionWithoutARequestIsClosed() throws IOException {
        assertThat(RawHttp1.ask(listener.port(), "")).contains("408");
    }

    @Test
    void anIdleConnectionIsClosedWithoutAResponse() throws IOException {
        try (RawHttp1 client = new RawHttp1(listener.port())) {
            client.send("GET /things/abc HTTP/1.1\r\nHost: localhost\r\n\r\n");

            assertThat(client.rest()).startsWith("HTTP/1.1 200 ").endsWith("abc");
        }
    }

    @Test
    void anInFlightRequestIsNotIdle() throws Exception {
        try (RawHttp1 client = new RawHttp1(listener.port())) {
            client.send("GET /held HTTP/1.1\r\nHost: localhost\r\n\r\n");
            Exchange exchange = held.poll(10, TimeUnit.SECONDS);
            // Three times the idle timeout.
            exchange.runOnEventLoop(() -> exchange.after(Duration.ofMillis(450), () -> text(exchange, "after all")));

            assertThat(client.until("after all")).startsWith("HTTP/1.1 200 ");
        }
    }

    @Test
    void pipelinedRequestsAreAnsweredInOrderOneAtATime() throws IOException {
        try (RawHttp1 client = new RawHttp1(listener.port())) {
            StringBuilder requests = new StringBuilder();
            IntStream.range(0, 10)
                    .forEach(i ->
                            requests.append("GET /later/").append(i).append(" HTTP/1.1\r\nHost: localhost\r\n\r\n"));
            client.send(requests.toString());
            String answers = client.until("<9>");

            assertThat(answers.replaceAll("(?s)[^<]*<(\\d)>", "$1")).isEqualTo("0123456789");
            assertThat(mostUnderWay).hasValue(1);
        }
    }

    @Test
    void aClientThatNeverReadsCostsBoundedMemory() throws IOException {
        try (RawHttp1 client = new RawHttp1(listener.port())) {
            // All responses together would take 100 MB.
            client.send("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(1000));
            EventStreamTest.await("the connection is closed", () -> limited("answer-unread") == 1);
        }
        assertThat(large.get()).isPositive().isLessThan(200);
    }

    @Test
    void clientsThatLeaveWhileTheirNextBodyWaitsLeaveNoBuffer() throws Exception {
        String requests = "GET /held HTTP/1.1\r\nHost: localhost\r\n\r\n"
                + "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n" + "x".repeat(10_000);
        long before = 0;
        for (int i = 0; i < 400; i++) {
            if (i == 100) {
                before = PlatformDependent.usedDirectMemory();
            }
            try (RawHttp1 client = new RawHttp1(listener.port())) {
                client.send(requests);
                assertThat(held.poll(10, TimeUnit.SECONDS)).isNotNull();
            }
        }
        assertThat(PlatformDependent.usedDirectMemory() - before).isLessThan(4 << 20);
    }

    @Test
    void aClientThatReadsLateGetsAllItsAnswers() throws IOException {
        int count = 50;
        try (RawHttp1 client = new RawHttp1(listener.port())) {
            client.send("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(count)
                    + "GET /things/last HTTP/1.1\r\nHost: localhost\r\n\r\n");

            assertThat(client.rest()).endsWith("last").hasSizeGreaterThan(count * 100_000);
        }
        assertThat(large).hasValue(count);
    }

    @Test
    void connectionsBeyondTheBoundAreClosed() throws IOException {
        List<RawHttp1> open = new ArrayList<>();
        try {
            for (int i = 0; i < MAX_CONNECTIONS; i++) {
                RawHttp1 client = new RawHttp1(listener.port());
                open.add(client);
                client.send("GET /held HTTP/1.1\r\nHost: localhost\r\n\r\n");
            }
            for (int i = 0; i < MAX_CONNECTIONS; i++) {
                assertThat(held.poll(10, TimeUnit.SECONDS)).isNotNull();
            }
            assertThat(connections()).isEqualTo(MAX_CONNECTIONS);
            assertThat(RawHttp1.ask(listener.port(), "GET /held HTTP/1.1\r\nHost: localhost\r\n\r\n"))
                    .isEmpty();
            assertThat(limited("connections")).isEqualTo(1);

            open.removeLast().close();
            for (long until = System.nanoTime() + 10_000_000_000L; connections() == MAX_CONNECTIONS; ) {
                assertThat(System.nanoTime()).isLessThan(until);
            }
            assertThat(RawHttp1.ask(
                            listener.port(), "GET /things/a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
                    .startsWith("HTTP/1.1 200 ");
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        } finally {
            for (RawHttp1 client : open) {
                client.close();
            }
        }
    }

    @Test
    void otherProtocolsAreRefusedInTheNameOfOurs() throws IOException {
        for (String protocol : List.of("HTP/1.1", "HTTP/2.0", "HTTP/1.2", "http/1.1", "RTSP/1.0")) {
            assertThat(RawHttp1.ask(listener.port(), "GET /things/a " + protocol + "\r\nHost: localhost\r\n\r\n"))
                    .as(protocol)
                    .matches("(?s)HTTP/1\\.[01] 400 .*")
                    .contains("https://puri.dev/problems/bad-request");
        }
    }

    @Test
    void twoLengthsAreRefused() throws IOException {
        for (String lengths : List.of(
                "Content-Length: 1\r\nContent-Length: 2",
                "Content-Length: 1\r\nTransfer-Encoding: chunked",
                "Transfer-Encoding: chunked\r\nContent-Length: 1",
                "Content-Length: 1, 2",
                "Content-Length: -1")) {
            String answer = RawHttp1.ask(
                    listener.port(), "POST /echo HTTP/1.1\r\nHost: localhost\r\n" + lengths + "\r\n\r\n0\r\n\r\n");

            assertThat(answer)
                    .as(lengths)
                    .startsWith("HTTP/1.1 400 ")
                    .contains("bad-request")
                    .doesNotContain(" 200 ");
        }
    }

    @Test
    void anUnknownTransferCodingIsRefusedAndItsBodyIsNotParsedAsARequest() throws IOException {
        for (String coding : List.of(
                "Transfer-Encoding: xchunked\r\nContent-Length: 0",
                "Transfer-Encoding: gzip",
                "Transfer-Encoding: gzip, chunked",
                "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
                "Transfer-Encoding:")) {
            String answer = RawHttp1.ask(
                    listener.port(),
                    "POST /echo HTTP/1.1\r\nHost: localhost\r\n" + coding
                            + "\r\n\r\nGET /things/a HTTP/1.1\r\nHost: localhost\r\n\r\n");

            assertThat(answer)
                    .as(coding)
                    .startsWith("HTTP/1.1 400 ")
                    .contains("bad-request")
                    .doesNotContain(" 200 ");
        }
    }

    @Test
    void rawControlBytesAreRefused() throws IOException {
        for (String path : List.of("\0", "\u0001", "a\u001bb", "\u007f", "a\u0000")) {
            assertThat(RawHttp1.ask(
                            listener.port(),
                            "GET /things/" + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
                    .as("%x", (int) path.charAt(0))
                    .startsWith("HTTP/1.")
                    .contains(" 400 ", "bad-request");
        }
        assertThat(RawHttp1.ask(listener.port(), "GET /things/a HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n"))
                .contains(" 400 ");
    }

    @Test
    void absoluteFormAndAsteriskAreAnswered() throws IOException {
        assertThat(RawHttp1.ask(
                        listener.port(),
                        "GET http://LOCALHOST:80/things/abc HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 200 ")
                .endsWith("abc");
        assertThat(RawHttp1.ask(listener.port(), "OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 404 ");
        assertThat(RawHttp1.ask(
                        listener.port(), "CONNECT h:80 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 404 ");
    }

    @Test
    void anEncodedSlashStaysOneSegment() throws IOException {
        assertThat(RawHttp1.ask(
                        listener.port(),
                        "GET /things/a%2Fb%2f HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
                .endsWith("a%2Fb%2f");
        assertThat(RawHttp1.ask(
                        listener.port(), "GET /things%2Fa HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 404 ");
    }

    @Test
    void aSlowRequestWithoutADeadlineStaysOpen() throws IOException {
        // Proves that the slow requests of the other tests do not end by themselves.
        try (RawHttp1 client = new RawHttp1(listener.port())) {
            client.send("GET /held HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n");

            assertThatThrownBy(() -> client.drip("x", 10, 60)).hasMessageContaining("still open");
        } catch (SocketTimeoutException e) {
            throw new AssertionError(e);
        }
    }

    private double limited(String limit) {
        return metrics.registry()
                .get("puri.http.limited")
                .tag("limit", limit)
                .counter()
                .count();
    }

    private double connections() {
        return metrics.registry().get("puri.http.connections").gauge().value();
    }

    private static void text(Exchange exchange, String text) {
        exchange.answer(200, "text/plain", text.getBytes(StandardCharsets.UTF_8));
    }
}

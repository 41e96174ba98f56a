package dev.puri.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Requests that are answered after their handler has returned, by another thread or at a deadline. */
final class LaterAnswerTest extends RunningListener {
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
    void reportsAClientThatDisconnectedBeforeTheCallbackWasSet() throws Exception {
        CountDownLatch gone = new CountDownLatch(1);
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), listener.port())) {
            socket.getOutputStream()
                    .write("GET /v1/held HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(holding.await(10, TimeUnit.SECONDS)).isTrue();
        }
        EventStreamTest.await("disconnected", held.get()::isOver);

        held.get().runOnEventLoop(() -> held.get().onCancel(gone::countDown));

        assertThat(gone.await(10, TimeUnit.SECONDS)).isTrue();
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

        CompletableFuture<Void> closed = CompletableFuture.runAsync(listener::close, Thread::startVirtualThread);
        assertThat(closed).isNotDone();
        held.get().runOnEventLoop(() -> text(held.get(), "late"));

        assertThat(answer.get(10, TimeUnit.SECONDS).body()).isEqualTo("late");
        closed.get(15, TimeUnit.SECONDS);
        assertThatThrownBy(() -> get("/v1/wait")).hasCauseInstanceOf(ConnectException.class);
    }
}

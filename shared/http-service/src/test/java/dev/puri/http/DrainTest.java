package dev.puri.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class DrainTest {
    private static final String KEEP = " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    private static final String CLOSE = " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

    @Test
    void aStopGoesFromUnreadyToRefusingToEndingRequests() throws Exception {
        BlockingQueue<Exchange> held = new LinkedBlockingQueue<>();
        CountDownLatch ending = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        Health health = new Health();
        List<Route> routes = new ArrayList<>(List.of(
                Route.get("/held", Scope.NONE, held::add),
                Route.get("/hello", Scope.NONE, exchange -> text(exchange, "hello"))));
        routes.addAll(health.routes());
        try (Metrics metrics = new Metrics()) {
            Listener listener = Listener.start(
                    ListenerOptions.at("127.0.0.1", 0).with(RunningListener.http(Map.of("close.grace", "20s"))),
                    routes,
                    metrics);
            int port = listener.port();
            try (RawHttp1 waiting = new RawHttp1(port);
                    RawHttp1 kept = new RawHttp1(port)) {
                waiting.send("GET /held" + KEEP);
                kept.send("GET /hello" + KEEP);
                kept.until("hello");
                Exchange exchange = held.poll(10, TimeUnit.SECONDS);
                assertThat(RawHttp1.ask(port, "GET /health/ready" + CLOSE)).startsWith("HTTP/1.1 200 ");

                CompletableFuture<Void> stopped = CompletableFuture.runAsync(
                        () -> Drain.run(
                                health,
                                Duration.ofSeconds(2),
                                () -> {
                                    ending.countDown();
                                    awaited(end);
                                    exchange.runOnEventLoop(() -> text(exchange, "ended"));
                                },
                                List.of(listener)),
                        Thread::startVirtualThread);

                EventStreamTest.await("unready", () -> ready(port).startsWith("HTTP/1.1 503 "));
                assertThat(ready(port)).contains("\"name\":\"drain\"");
                // Clients that do not know of the stop yet are served as before.
                assertThat(ending.getCount()).isEqualTo(1);
                assertThat(RawHttp1.ask(port, "GET /hello" + CLOSE)).startsWith("HTTP/1.1 200 ");

                assertThat(ending.await(20, TimeUnit.SECONDS)).isTrue();
                kept.send("GET /hello" + KEEP);
                assertThat(kept.rest()).startsWith("HTTP/1.1 503 ").contains("problems/draining", "retry-after: 1");

                end.countDown();
                assertThat(waiting.rest()).startsWith("HTTP/1.1 200 ").endsWith("ended");
                stopped.get(20, TimeUnit.SECONDS);
            }
            assertThatThrownBy(() -> RawHttp1.ask(port, "")).isInstanceOf(ConnectException.class);
        }
    }

    @Test
    void anInterruptEndsTheDelayButNotTheGracePeriod() throws Exception {
        BlockingQueue<Exchange> held = new LinkedBlockingQueue<>();
        CountDownLatch ending = new CountDownLatch(1);
        try (Metrics metrics = new Metrics()) {
            Listener listener = Listener.start(
                    ListenerOptions.at("127.0.0.1", 0).with(RunningListener.http(Map.of("close.grace", "20s"))),
                    List.of(Route.get("/held", Scope.NONE, held::add)),
                    metrics);
            try (RawHttp1 waiting = new RawHttp1(listener.port())) {
                waiting.send("GET /held" + KEEP);
                Exchange exchange = held.poll(10, TimeUnit.SECONDS);
                CompletableFuture<Boolean> isInterrupted = new CompletableFuture<>();
                Thread closing = Thread.ofVirtual().start(() -> {
                    Drain.run(new Health(), Duration.ofMinutes(1), ending::countDown, List.of(listener));
                    isInterrupted.complete(Thread.currentThread().isInterrupted());
                });
                closing.interrupt();

                assertThat(ending.await(20, TimeUnit.SECONDS)).isTrue();
                assertThat(closing.join(Duration.ofMillis(300))).isFalse();
                exchange.runOnEventLoop(() -> text(exchange, "ended"));
                assertThat(waiting.rest()).startsWith("HTTP/1.1 200 ").endsWith("ended");
                assertThat(isInterrupted.get(20, TimeUnit.SECONDS)).isTrue();
            }
        }
    }

    @Test
    void aListenerThatDoesNotCloseKeepsNoOtherOpen() {
        try (Metrics metrics = new Metrics()) {
            Listener listener = Listener.start(ListenerOptions.at("127.0.0.1", 0), List.of(), metrics);
            IllegalStateException first = new IllegalStateException("first");
            IllegalStateException third = new IllegalStateException("third");
            List<Runnable> parts = List.of(failing(first), listener::close, failing(third));

            assertThatThrownBy(() -> Drain.closeAll(parts))
                    .hasSuppressedException(first)
                    .hasSuppressedException(third);

            assertThatThrownBy(() -> RawHttp1.ask(listener.port(), "")).isInstanceOf(ConnectException.class);
        }
    }

    private static Runnable failing(RuntimeException failure) {
        return () -> {
            throw failure;
        };
    }

    private static String ready(int port) {
        try {
            return RawHttp1.ask(port, "GET /health/ready" + CLOSE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void awaited(CountDownLatch latch) {
        try {
            assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void text(Exchange exchange, String text) {
        exchange.answer(200, "text/plain", text.getBytes(StandardCharsets.UTF_8));
    }
}

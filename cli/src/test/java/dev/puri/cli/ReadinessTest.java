package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class ReadinessTest {
    /** Shorter than the start of any server. */
    private static final Duration ONE_MILLISECOND = Duration.ofMillis(1);

    /** Longer than {@link #ONE_MILLISECOND}, so that a check without progress ends the wait. */
    private static final Duration CHECK_INTERVAL = Duration.ofMillis(20);

    private static final Duration NEVER = Duration.ofDays(1);

    private final List<String> progress = new ArrayList<>();
    private final AtomicInteger answers = new AtomicInteger();
    private volatile IntFunction<String> health = answer -> "{\"waitingFor\": \"the tide\"}";
    private HttpServer server;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1);
        server.createContext("/health/ready", exchange -> {
            byte[] body = health.apply(answers.incrementAndGet()).getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(503, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private URI health() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/health/ready");
    }

    private Readiness readiness(Duration reportInterval, LongSupplier deliveredBytes) {
        return new Readiness(
                ONE_MILLISECOND,
                reportInterval,
                CHECK_INTERVAL,
                deliveredBytes,
                new CompletableFuture<>(),
                progress::add);
    }

    @Test
    void failureNamesTheStalledServerAndItsHealth() {
        Readiness readiness = readiness(NEVER, () -> 5);
        assertThatThrownBy(() -> readiness.await(List.of(
                        new Readiness.Server("resolver", () -> true, health()),
                        new Readiness.Server("search indexer", () -> false, health()))))
                .isInstanceOf(CommandException.class)
                .hasMessageContaining("the search indexer does not become ready")
                .hasMessageContaining("the tide");
        assertThat(progress).singleElement().asString().startsWith("the resolver is ready after ");
    }

    @Test
    void waitsWhileTheBrokerDeliversBytes() {
        AtomicLong looks = new AtomicLong();
        Readiness readiness = readiness(NEVER, looks::incrementAndGet);
        readiness.await(List.of(new Readiness.Server("topology", () -> looks.get() > 3, health())));
        assertThat(progress).singleElement().asString().startsWith("the topology is ready after ");
    }

    @Test
    @Timeout(60)
    void durationsInTheHealthAreNoProgress() {
        health = seconds -> """
                {"status": "DOWN", "checks": [{"name": "table", "status": "DOWN", "data": {
                  "rows": 7, "reached": 40, "ageSeconds": %1$d.5, "waitsForSeconds": %1$d,
                  "reason": "puri.events.v1-0 cannot be read beyond offset 40 for %1$d s"}}]}
                """.formatted(seconds);
        Readiness readiness = readiness(ONE_MILLISECOND, () -> 5);

        assertThatThrownBy(() -> readiness.await(List.of(new Readiness.Server("resolver", () -> false, health()))))
                .isInstanceOf(CommandException.class)
                .hasMessageContaining("the resolver does not become ready");
        assertThat(progress)
                .first()
                .isEqualTo("the resolver is not ready yet: puri.events.v1-0 cannot be read beyond offset 40 for 1 s");
    }

    @Test
    @Timeout(60)
    void aCounterThatGrowsIsProgress() {
        health = rows ->
                "{\"checks\": [{\"name\": \"table\", \"status\": \"DOWN\", \"data\": {\"rows\": " + rows + "}}]}";
        Readiness readiness = readiness(NEVER, () -> 5);

        readiness.await(List.of(new Readiness.Server("resolver", () -> answers.get() > 3, health())));

        assertThat(progress).singleElement().asString().startsWith("the resolver is ready after ");
    }

    @Test
    void failsAtOnceIfTheTopologyEnds() {
        Readiness readiness = new Readiness(
                NEVER,
                NEVER,
                () -> 5,
                CompletableFuture.failedFuture(new IllegalStateException("no space left")),
                progress::add);
        assertThatThrownBy(() -> readiness.await(List.of(new Readiness.Server("topology", () -> false, health()))))
                .isInstanceOf(CommandException.class)
                .hasMessageContaining("the topology ended: no space left");
    }
}

package dev.puri.cli.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.cli.LocalHttpServer;
import dev.puri.cli.io.RateLimiter;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ResolverExportTest {
    private static final String ROWS = """
            {"changesFrom":"3q2-7wDVxc8GKgAH"}
            {"puri":"a:b:1","owner":"o","shard":"s","uuid":"01970000-0000-7000-8000-000000000001","status":"active",\
            "epoch":1,"createdAt":"2026-03-01T10:00:00.000Z","changedAt":"2026-03-01T10:00:00.000Z","position":"3-1042"}
            """;

    private final List<String> read = new ArrayList<>();
    private LocalHttpServer server;

    @BeforeEach
    void start() throws Exception {
        server = new LocalHttpServer();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void isReadOnceTheResolverIsReady() throws Exception {
        int[] requests = {0};
        answer(exchange -> {
            boolean isReady = requests[0]++ > 0;
            exchange.sendResponseHeaders(isReady ? 200 : 503, 0);
            exchange.getResponseBody().write(utf8(isReady ? ROWS + lastLine(ROWS) : "{\"title\":\"not ready\"}"));
        });
        readAll(Duration.ofSeconds(60));
        assertThat(read).containsExactly("a:b:1");
        assertThat(requests[0]).isEqualTo(2);
    }

    @Test
    void anExportThatIsCutOffOrChangedIsRefused() {
        answer(exchange -> {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write(utf8(ROWS));
        });
        assertThatThrownBy(() -> readAll(Duration.ofSeconds(60)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("ended after 1 rows");
        answer(exchange -> {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write(utf8(ROWS.replace("a:b:1", "a:b:2") + lastLine(ROWS)));
        });
        assertThatThrownBy(() -> readAll(Duration.ofSeconds(60)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("is damaged");
    }

    @Test
    void anExportWithAnInvalidTimeIsRefused() {
        String rows = ROWS.replace("\"2026-03-01T10:00:00.000Z\",\"position\"", "\"yesterday\",\"position\"");
        answer(exchange -> {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write(utf8(rows + lastLine(rows)));
        });
        assertThatThrownBy(() -> readAll(Duration.ofSeconds(60)))
                .isInstanceOf(IOException.class)
                .hasMessageContainingAll("has an invalid row", "yesterday");
    }

    /** The resolver would abort the export before its end. */
    @Test
    void theRateNoLongerLimitsAnExportThatTakesTooLong() throws Exception {
        List<String> lines = ROWS.lines().toList();
        String row = lines.get(1) + "\n";
        answer(exchange -> {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write(utf8(lines.getFirst() + "\n" + row.repeat(2_000)));
        });
        for (Duration maxPacedTime : List.of(Duration.ofHours(1), Duration.ZERO)) {
            List<Long> pauses = new ArrayList<>();
            List<Long> counts = new ArrayList<>();
            RateLimiter limiter = new RateLimiter(1_000, counts::add, () -> 0, pauses::add);
            ResolverExport export = export(limiter, Duration.ofSeconds(60), maxPacedTime);
            try (RowCopy.Scan scan = export.open()) {
                assertThatThrownBy(() -> scan.forEach((puri, ignored) -> {}))
                        .hasMessageContaining("ended after 2000 rows");
            }
            assertThat(pauses).hasSize(maxPacedTime.isZero() ? 0 : 2);
            assertThat(counts).containsExactly(1_000L, 2_000L);
        }
    }

    @Test
    void aResolverThatStopsSendingIsNotAwaitedForEver() {
        answer(exchange -> {
            exchange.sendResponseHeaders(200, 0);
            OutputStream body = exchange.getResponseBody();
            body.write(utf8(ROWS));
            body.flush();
            server.awaitEnd();
        });
        assertThatThrownBy(() -> readAll(Duration.ofSeconds(1))).isInstanceOf(IOException.class);
        assertThat(read).as("rows before the stop").containsExactly("a:b:1");
    }

    @Test
    void anotherAnswerIsAFailure() {
        answer(exchange -> exchange.sendResponseHeaders(403, -1));
        assertThatThrownBy(() -> readAll(Duration.ofSeconds(60)))
                .isInstanceOf(VerifyException.class)
                .hasMessageContaining("the resolver answered 403");
    }

    private void answer(LocalHttpServer.Handler handler) {
        server.answer("/v1/export", handler);
    }

    private void readAll(Duration timeout) throws IOException {
        ResolverExport export = export(new RateLimiter(null), timeout, Duration.ofHours(1));
        try (RowCopy.Scan scan = export.open()) {
            assertThat(scan.nextOffset(1)).isPositive();
            scan.forEach((puri, row) -> read.add(puri.toString()));
        }
    }

    private ResolverExport export(RateLimiter limiter, Duration timeout, Duration maxPacedTime) {
        return new ResolverExport(url(), null, limiter, timeout, Duration.ofMillis(20), maxPacedTime);
    }

    private URI url() {
        return server.url().resolve("/");
    }

    private static String lastLine(String lines) {
        try {
            byte[] sha256 = MessageDigest.getInstance("SHA-256").digest(utf8(lines));
            return "{\"rows\":1,\"sha256\":\"" + HexFormat.of().formatHex(sha256) + "\"}\n";
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}

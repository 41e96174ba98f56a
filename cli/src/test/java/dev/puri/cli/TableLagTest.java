package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.puri.settings.KafkaProperties;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A resolver whose table lags for some requests. */
class TableLagTest {
    private static final int ALWAYS = Integer.MAX_VALUE;

    private final AtomicInteger requests = new AtomicInteger();
    private HttpServer server;
    private int laggingRequests;

    @TempDir
    private Path folder;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/v1/resolve", this::answer);
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    @Test
    void aPlanIsRefusedWhileTheTableLags() {
        laggingRequests = ALWAYS;
        CommandLineRun plan = CommandLineRun.of(
                Map.of("PURI_RESOLVER", url(), "PURI_BOOTSTRAP_SERVER", "127.0.0.1:1"),
                "import",
                "plan",
                "-f",
                folder.resolve("mapping.yaml").toString(),
                "-d",
                folder.toString(),
                "--wait",
                "0");
        assertThat(plan.status()).isEqualTo(1);
        assertThat(plan.err())
                .contains("may have missed the changes of the last 42 s, so the plan would lack conflicts");
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void waitsUntilTheTableIsFresh() throws Exception {
        laggingRequests = 1;
        StringWriter messages = new StringWriter();
        Console console = new Console(
                InputStream.nullInputStream(),
                new PrintWriter(new StringWriter()),
                new PrintWriter(messages),
                Map.of(),
                false,
                false);
        CliSettings settings = new CliSettings(
                "127.0.0.1:1",
                URI.create("http://127.0.0.1:1"),
                URI.create(url()),
                URI.create("http://127.0.0.1:1"),
                Optional.empty(),
                KafkaProperties.NONE);
        TableLag.awaitFresh(console, settings, Duration.ofMinutes(5), "");
        assertThat(requests).hasValue(2);
        assertThat(messages.toString()).contains("puri: waiting, because the resolver at " + url());
    }

    private String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            if (requests.getAndIncrement() < laggingRequests) {
                exchange.getResponseHeaders().add("Puri-Table-Lag", "42");
            }
            byte[] body = "{\"results\":[]}".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        }
    }
}

package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Reads a response line by line. */
@Timeout(60)
final class ApiClientTest {
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final CountDownLatch end = new CountDownLatch(1);
    private final List<String> read = new ArrayList<>();
    private HttpServer server;

    @BeforeEach
    void start() throws Exception {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.start();
    }

    @AfterEach
    void stop() {
        end.countDown();
        server.stop(0);
        threads.shutdownNow();
    }

    @Test
    void readsAllLines() throws Exception {
        answer(200, "{\"a\":1}\n\n{\"a\":2}\n", false);

        readLines(Duration.ofSeconds(60));

        assertThat(read).containsExactly("{\"a\":1}", "{\"a\":2}");
    }

    @Test
    void theServerThatStopsSendingIsNotAwaitedForEver() {
        answer(200, "{\"a\":1}\n", true);

        assertThatThrownBy(() -> readLines(Duration.ofSeconds(1)))
                .isInstanceOf(CommandException.class)
                .hasMessageContainingAll("was lost before its response ended", "no byte was received for 1000 ms");

        assertThat(read).containsExactly("{\"a\":1}");
    }

    @Test
    void theProblemOfAnErrorIsInTheMessage() {
        answer(503, "{\"title\":\"A verification runs\"}", false);

        assertThatThrownBy(() -> readLines(Duration.ofSeconds(60)))
                .isInstanceOf(CommandException.class)
                .hasMessageContaining("answered 503: A verification runs");
    }

    /**
     * Answers each request.
     *
     * @param stops whether the server sends nothing after the body, but keeps the connection open
     */
    private void answer(int status, String body, boolean stops) {
        server.createContext("/", exchange -> {
            try (exchange) {
                write(exchange, status, body, stops);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
    }

    private void write(HttpExchange exchange, int status, String body, boolean stops)
            throws IOException, InterruptedException {
        exchange.sendResponseHeaders(status, 0);
        OutputStream out = exchange.getResponseBody();
        out.write(body.getBytes(StandardCharsets.UTF_8));
        out.flush();
        if (stops) {
            end.await();
        }
    }

    private void readLines(Duration timeout) throws InterruptedException {
        Console console = new Console(
                InputStream.nullInputStream(),
                new PrintWriter(new StringWriter()),
                new PrintWriter(new StringWriter()),
                Map.of(),
                false,
                false);
        URI url = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
        ApiClient client = new ApiClient(console, "search indexer", "--search", "", url, Optional.empty());
        client.getLines("/v1/search/verify", timeout, line -> read.add(line.text()));
    }
}

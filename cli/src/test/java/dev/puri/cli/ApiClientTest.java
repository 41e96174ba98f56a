package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Responses that end, and those that do not. */
@Timeout(60)
final class ApiClientTest {
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

    @Test
    void aResponseThatStopsInItsMiddleIsNotAwaitedForEver() {
        answer(200, "{\"a\":", true);

        assertThatThrownBy(() -> client().get("/v1/stats", Duration.ofSeconds(1)))
                .isInstanceOf(CommandException.class)
                .hasMessageContaining("listens but did not answer within 1 s");
    }

    /** The connection is not lost if the disk is full. */
    @Test
    void aFailureOfTheListenerIsNotOneOfTheConnection() {
        answer(200, "{\"a\":1}\n", false);
        UncheckedIOException failure = new UncheckedIOException(new IOException("no space is left"));

        assertThatThrownBy(() -> client().getLines("/v1/search/verify", line -> {
                    throw failure;
                }))
                .isSameAs(failure);
    }

    @Test
    void theCauseOfAWrongAddressIsKept() {
        ApiClient client = client(URI.create("ftp://x"));
        assertThatThrownBy(() -> client.get("/v1/stats")).hasCauseInstanceOf(IllegalArgumentException.class);
    }

    /**
     * Answers each request.
     *
     * @param stops whether the server sends nothing after the body, but keeps the connection open
     */
    private void answer(int status, String body, boolean stops) {
        server.answer("/", exchange -> {
            exchange.sendResponseHeaders(status, 0);
            OutputStream out = exchange.getResponseBody();
            out.write(body.getBytes(StandardCharsets.UTF_8));
            out.flush();
            if (stops) {
                server.awaitEnd();
            }
        });
    }

    private void readLines(Duration timeout) throws InterruptedException {
        client().getLines("/v1/search/verify", timeout, line -> read.add(line.text()));
    }

    private ApiClient client() {
        return client(server.url());
    }

    private static ApiClient client(URI address) {
        return new ApiClient(
                CommandLineRun.silentConsole(), "search indexer", "--search", "", address, Optional.empty());
    }
}

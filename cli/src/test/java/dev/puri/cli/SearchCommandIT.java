package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the search commands with responses that a healthy indexer does not send. */
class SearchCommandIT {
    private static final String GHOST = "{\"puri\":\"a:b:1\",\"kind\":\"document\",\"difference\":\"ghost\"}";
    private static final String DIFFERS =
            "{\"puri\":\"a:b:2\",\"kind\":\"identity\",\"difference\":\"differs\",\"fields\":[\"shard\",\"owner\"]}";

    private final AtomicReference<String> answer = new AtomicReference<>("");
    private final AtomicInteger status = new AtomicInteger(200);
    private final AtomicReference<String> asked = new AtomicReference<>("");
    private final AtomicReference<String> token = new AtomicReference<>("");
    private volatile Runnable onAnswer = () -> {};
    private HttpServer server;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            asked.set(exchange.getRequestMethod() + " " + exchange.getRequestURI());
            token.set(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
            exchange.sendResponseHeaders(status.get(), 0);
            exchange.getResponseBody().write(answer.get().getBytes(StandardCharsets.UTF_8));
            onAnswer.run();
        }
    }

    private CommandLineRun puri(String... args) {
        return CommandLineRun.of(
                Map.of("PURI_SEARCH", "http://127.0.0.1:" + server.getAddress().getPort()), args);
    }

    @Test
    void verifyPrintsEachDifferenceAndEndsWithStatus1() {
        answer.set(
                GHOST + "\n" + DIFFERS
                        + "\n{\"done\":true,\"identities\":7,\"documents\":3,\"missing\":0,\"ghost\":1,\"differs\":1,\"unsettled\":0}\n");
        CommandLineRun run = puri("search", "verify");
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.outLines()).containsExactly("ghost  document  a:b:1", "differs  identity  a:b:2: shard, owner");
        assertThat(run.err().strip())
                .isEqualTo("puri: 7 identities and 3 documents compared; 0 missing, 1 ghost, 1 differs");
        assertThat(puri("search", "verify", "-o", "json").outLines()).hasSize(3).startsWith(GHOST, DIFFERS);
    }

    @Test
    void verifyFailsIfTheComparisonDoesNotComplete() {
        answer.set("{\"done\":false,\"detail\":\"no index answers\",\"identities\":0,\"documents\":0}\n");
        CommandLineRun brokenOff = puri("search", "verify");
        assertThat(brokenOff.status()).isEqualTo(1);
        assertThat(brokenOff.err()).contains("did not complete: no index answers");

        answer.set("");
        CommandLineRun cutOff = puri("search", "verify");
        assertThat(cutOff.status()).isEqualTo(1);
        assertThat(cutOff.err()).contains("the connection was lost");
    }

    @Test
    void reindexEndsWithStatus1IfTheRebuildIsCancelled() {
        answer.set("{\"state\":\"ended\",\"records\":12,\"seconds\":0.5}");
        CommandLineRun run = puri("search", "reindex");
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.outLines()).hasSize(2).element(1).asString().matches("ended +12 +0.5");
        assertThat(puri("search", "reindex", "--cancel").status()).isZero();
    }

    @Test
    void wordsAndFiltersAreSentUnchanged() {
        answer.set("{\"results\":[],\"total\":0,\"totalIsExact\":true}");
        CommandLineRun run = puri("search", "\"a b\"", "c&d=é", "--owner", "x", "--owner", "y", "--limit", "3");
        assertThat(run.status()).as(run.err()).isZero();
        assertThat(asked.get()).isEqualTo("GET /v1/search?q=%22a+b%22+c%26d%3D%C3%A9&owner=x&owner=y&limit=3");
        assertThat(run.err().strip()).isEqualTo("puri: 0 of 0");
    }

    @Test
    void theNameOfASubcommandIsASearchWordOnlyAfterTwoDashes() {
        answer.set("{\"results\":[],\"total\":0,\"totalIsExact\":true}");
        assertThat(puri("search", "--", "reindex").status()).isZero();
        assertThat(asked.get()).isEqualTo("GET /v1/search?q=reindex");
        asked.set("nothing");
        CommandLineRun mixed = puri("search", "blue", "reindex");
        assertThat(mixed.status()).isEqualTo(2);
        assertThat(mixed.err()).contains("put -- before the search words");
        assertThat(asked.get()).isEqualTo("nothing");
    }

    @Test
    void theTokenIsSentToTheServerAndNeverPrinted() {
        answer.set("{\"results\":[],\"total\":0,\"totalIsExact\":true}");
        String indexer = "http://127.0.0.1:" + server.getAddress().getPort();
        assertThat(puri("search", "x").status()).isZero();
        assertThat(token.get()).isEqualTo("null");
        CommandLineRun.of(Map.of("PURI_SEARCH", indexer, "PURI_TOKEN", "s3cret"), "search", "x");
        assertThat(token.get()).isEqualTo("Bearer s3cret");
        CommandLineRun broken =
                CommandLineRun.of(Map.of("PURI_SEARCH", indexer, "PURI_TOKEN", "s3cret\nx"), "search", "x");
        assertThat(broken.status()).isEqualTo(2);
        assertThat(broken.err()).contains("PURI_TOKEN").doesNotContain("s3cret");
    }

    @Test
    void aRequestThatTheServerRefusesIsWrongUsage() {
        answer.set("{\"title\":\"Invalid parameter\",\"detail\":\"limit: too much\"}");
        status.set(400);
        CommandLineRun refused = puri("search", "x", "--limit", "99999");
        assertThat(refused.status()).isEqualTo(2);
        assertThat(refused.err()).contains("400: Invalid parameter. limit: too much");
        status.set(401);
        CommandLineRun unknown = puri("search", "x");
        assertThat(unknown.status()).isEqualTo(1);
        assertThat(unknown.err()).contains("PURI_TOKEN");
    }

    @Test
    void waitsForAServerThatIsNotReadyAndPrintsTheReason() {
        answer.set("{\"title\":\"Not ready\",\"detail\":\"the index is being filled\"}");
        status.set(503);
        onAnswer = () -> {
            status.set(200);
            answer.set("{\"results\":[],\"total\":0,\"totalIsExact\":true}");
        };
        CommandLineRun run = puri("search", "x");
        assertThat(run.status()).as(run.err()).isZero();
        assertThat(run.errLines().getFirst())
                .startsWith("puri: waiting for the search indexer at http://127.0.0.1:")
                .endsWith("/v1/search: Not ready. the index is being filled");
    }

    @Test
    void aResponseThatIsNotFromAnIndexerIsReported() {
        answer.set("<html>");
        CommandLineRun run = puri("search", "x");
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.err())
                .isEqualTo("puri: the response from http://127.0.0.1:"
                        + server.getAddress().getPort()
                        + " is not that of a search indexer; set the address of a search indexer with --search\n");
    }
}

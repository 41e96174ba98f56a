package dev.puri.benchmarks.search;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.benchmarks.environment.Await;
import dev.puri.benchmarks.load.HttpSocket;
import dev.puri.benchmarks.report.Timing;
import dev.puri.search.SearchServer;
import dev.puri.search.SearchSettings;
import dev.puri.settings.Settings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

/** A search indexer in this process, with default settings. It starts without an index. */
final class MeasuredIndexer implements AutoCloseable {
    private static final Duration FILL_TIMEOUT = Duration.ofMinutes(15);
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final SearchServer server;
    private final double fillSeconds;

    /**
     * Starts an indexer, and returns when its index has everything in the topics.
     *
     * @param state folder of the indexer
     * @param documents number of documents in the topics; a smaller index would have been filled faster
     */
    MeasuredIndexer(String bootstrapServers, String schemaRegistry, Path state, long documents) throws IOException {
        long startNanos = System.nanoTime();
        Map<String, String> flags = new HashMap<>();
        flags.put("bootstrap.server", bootstrapServers);
        flags.put("schema.registry", schemaRegistry);
        flags.put("state.dir", state.toString());
        flags.put("drain.delay", "0s");
        flags.put("http.port", "0");
        // With the default, the server would refuse some searches under full load.
        flags.put("search.queue.timeout", "30s");
        server = SearchServer.start(Settings.read(SearchSettings.class, flags, Map.of(), null));
        try {
            Await.until("a complete index", FILL_TIMEOUT, server::isReady);
            fillSeconds = Timing.seconds(startNanos);
            requireDocuments(documents);
        } catch (IOException | RuntimeException e) {
            server.close();
            throw e;
        }
    }

    /** Returns the time from the start until the index was complete, in seconds. */
    double fillSeconds() {
        return fillSeconds;
    }

    int port() {
        return server.port();
    }

    /** Rebuilds the index; returns the time until the rebuilt index has replaced the serving one, in seconds. */
    double reindex() throws IOException {
        try (HttpSocket socket = new HttpSocket(port())) {
            long startNanos = System.nanoTime();
            json(socket, HttpSocket.post("/v1/search/reindex", ""), 202);
            AtomicReference<String> state = new AtomicReference<>("running");
            Await.until("a rebuilt index", FILL_TIMEOUT, () -> {
                JsonNode answer = json(socket, HttpSocket.get("/v1/search/reindex"), 200);
                state.set(answer.get("state").textValue());
                return !state.get().equals("running");
            });
            if (!state.get().equals("done")) {
                throw new IllegalStateException("the rebuilt index is " + state);
            }
            return Timing.seconds(startNanos);
        }
    }

    /** Waits until the index has this number of documents. */
    void requireDocuments(long count) throws IOException {
        try (HttpSocket socket = new HttpSocket(port())) {
            Await.until("an index of " + count + " documents", Duration.ofSeconds(30), () -> {
                JsonNode stats = json(socket, HttpSocket.get("/v1/stats"), 200);
                return stats.get("documents").longValue() == count
                        && stats.get("identities").longValue() == count;
            });
        }
    }

    private static JsonNode json(HttpSocket socket, byte[] request, int status) throws IOException {
        return MAPPER.readTree(socket.ask(request, status).body());
    }

    @Override
    public void close() {
        server.close();
    }
}

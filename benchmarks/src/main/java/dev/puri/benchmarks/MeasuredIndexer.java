package dev.puri.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.search.SearchServer;
import dev.puri.search.SearchSettings;
import dev.puri.settings.Settings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/** A search indexer in this process, with its defaults, that has nothing when it starts. */
final class MeasuredIndexer implements AutoCloseable {
    private static final int PATIENCE_SECONDS = 900;
    private static final long LOOK_NANOS = 5_000_000;
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final SearchServer server;
    private final double seconds;

    private MeasuredIndexer(SearchServer server, double seconds) {
        this.server = server;
        this.seconds = seconds;
    }

    /**
     * Returns once all that the topics have can be found.
     *
     * @param state its folder
     */
    static MeasuredIndexer start(String bootstrapServers, String schemaRegistry, Path state) throws Exception {
        long begun = System.nanoTime();
        SearchServer server = SearchServer.start(Settings.read(
                SearchSettings.class,
                Map.of(
                        "bootstrap.server",
                        bootstrapServers,
                        "schema.registry",
                        schemaRegistry,
                        "state.dir",
                        state.toString(),
                        "drain.delay",
                        "0s",
                        // A server under full load is measured, which would refuse some of it.
                        "search.queue.timeout",
                        "30s",
                        "http.port",
                        "0"),
                Map.of(),
                null));
        try {
            while (!server.isReady()) {
                pause(begun, "the index was not complete in time");
            }
            return new MeasuredIndexer(server, Pace.seconds(begun));
        } catch (RuntimeException e) {
            server.close();
            throw e;
        }
    }

    /** From its start until all could be found. */
    double seconds() {
        return seconds;
    }

    int port() {
        return server.port();
    }

    /** Lets another index be built beside the one that answers, and returns in how many seconds it took its place. */
    double reindex() throws IOException {
        try (HttpSocket socket = new HttpSocket(port())) {
            long begun = System.nanoTime();
            String state = state(socket, HttpSocket.post("/v1/search/reindex", ""), 202);
            while (state.equals("running")) {
                pause(begun, "another index was not built in time");
                state = state(socket, HttpSocket.get("/v1/search/reindex"), 200);
            }
            if (!state.equals("done")) {
                throw new IllegalStateException("the other index is " + state);
            }
            return Pace.seconds(begun);
        }
    }

    /** An index with fewer was filled faster. */
    void requireDocuments(long count) throws IOException {
        long begun = System.nanoTime();
        try (HttpSocket socket = new HttpSocket(port())) {
            // The index is looked at now and then.
            while (true) {
                JsonNode stats = json(socket, HttpSocket.get("/v1/stats"), 200);
                if (stats.get("documents").longValue() == count
                        && stats.get("identities").longValue() == count) {
                    return;
                }
                if (Pace.seconds(begun) > 30) {
                    throw new IllegalStateException("of " + count + " documents the index has: " + stats);
                }
                LockSupport.parkNanos(LOOK_NANOS);
            }
        }
    }

    private static String state(HttpSocket socket, byte[] request, int status) throws IOException {
        return json(socket, request, status).get("state").textValue();
    }

    private static JsonNode json(HttpSocket socket, byte[] request, int status) throws IOException {
        HttpSocket.Answer answer = socket.ask(request);
        if (answer.status() != status) {
            throw new IllegalStateException("answered with " + answer.head() + answer.text());
        }
        return MAPPER.readTree(answer.body());
    }

    private static void pause(long begun, String late) {
        if (Pace.seconds(begun) > PATIENCE_SECONDS) {
            throw new IllegalStateException(late);
        }
        LockSupport.parkNanos(LOOK_NANOS);
    }

    @Override
    public void close() {
        server.close();
    }
}

package dev.puri.search.opensearch;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.puri.search.index.CursorSeal;
import dev.puri.settings.Settings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** A node with given responses for each path. It returns them in turn and repeats the last one. */
final class StubCluster implements AutoCloseable {
    private final Map<String, Deque<String>> answers = new TreeMap<>();
    private final List<String> bodies = new CopyOnWriteArrayList<>();
    private final HttpServer server;
    private final ClusterClient cluster;

    StubCluster() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
        cluster = new ClusterClient(Settings.read(
                OpenSearchSettings.class,
                Map.of(),
                Map.of(
                        "PURI_OPENSEARCH_URL",
                        "http://127.0.0.1:" + server.getAddress().getPort(),
                        "PURI_OPENSEARCH_WRITE_TIMEOUT",
                        "5s"),
                null));
    }

    /** Sets the responses of all paths that contain a text. */
    StubCluster on(String part, String... json) {
        answers.put(part, new ArrayDeque<>(List.of(json)));
        return this;
    }

    OpenSearchIndex index() {
        return new OpenSearchIndex(cluster, "x", "x-w", new CursorSeal(new byte[32]));
    }

    /** Returns the request bodies that were not empty. */
    List<String> bodies() {
        return bodies;
    }

    private synchronized void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().toString();
        String sent = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        if (!sent.isEmpty()) {
            bodies.add(sent);
        }
        String json = answers.entrySet().stream()
                .filter(each -> path.contains(each.getKey()))
                .map(each -> each.getValue().size() > 1
                        ? each.getValue().remove()
                        : each.getValue().element())
                .findFirst()
                .orElse("{}");
        byte[] body = json.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    @Override
    public void close() {
        cluster.close();
        server.stop(0);
    }
}

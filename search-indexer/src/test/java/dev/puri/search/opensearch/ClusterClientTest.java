package dev.puri.search.opensearch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.puri.search.index.IndexUnavailableException;
import dev.puri.settings.Settings;
import dev.puri.testkit.TestCertificates;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

@Isolated("counts retries in a second")
final class ClusterClientTest {
    private final List<HttpServer> servers = new ArrayList<>();
    private final List<String> requests = new CopyOnWriteArrayList<>();
    private final List<String> authorizations = new CopyOnWriteArrayList<>();

    @AfterEach
    void stop() {
        servers.forEach(server -> server.stop(0));
    }

    @Test
    void retriesABusyNode() throws Exception {
        try (ClusterClient cluster = cluster(node(429, 503, 200))) {
            assertThat(cluster.sendWithWriteTimeout("GET", "/x", null).status()).isEqualTo(200);
            assertThat(requests).hasSize(3);
        }
    }

    @Test
    void skipsANodeThatIsDown() throws Exception {
        String away = node(200);
        servers.getFirst().stop(0);
        try (ClusterClient cluster = cluster(away + "," + node(200))) {
            assertThat(cluster.sendWithReadTimeout("GET", "/x", null).status()).isEqualTo(200);
            assertThat(cluster.sendWithReadTimeout("GET", "/x", null).status()).isEqualTo(200);
        }
    }

    @Test
    void requestsThatFailTogetherAllReachTheNextNode() throws Exception {
        CyclicBarrier together = new CyclicBarrier(2);
        HttpServer broken = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        ExecutorService workers = Executors.newFixedThreadPool(4);
        broken.setExecutor(workers);
        broken.createContext("/", exchange -> {
            try {
                together.await(5, TimeUnit.SECONDS);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            exchange.close();
        });
        try (ClusterClient cluster = cluster(start(broken) + "," + node(200))) {
            List<Future<Integer>> statuses = workers.invokeAll(List.of(
                    () -> cluster.sendWithReadTimeout("GET", "/x", null).status(),
                    () -> cluster.sendWithReadTimeout("GET", "/x", null).status()));
            for (Future<Integer> status : statuses) {
                assertThat(status.get()).isEqualTo(200);
            }
            assertThat(requests).hasSize(2);
        } finally {
            workers.shutdownNow();
        }
    }

    @Test
    void aHangingNodeLeavesTimeForTheNext() throws Exception {
        HttpServer hanging = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        hanging.createContext("/", exchange -> {});
        try (ClusterClient cluster = cluster(start(hanging) + "," + node(200))) {
            assertThat(cluster.sendWithWriteTimeout("GET", "/x", null).status()).isEqualTo(200);
        }
    }

    @Test
    void aResponseThatIsNotJsonIsQuotedAndNotRetried() throws Exception {
        Map<Integer, String> responses =
                Map.of(200, "<html>no such site</html>", 400, "<html>bad</html>", 404, "404 page not found");
        for (int status : responses.keySet()) {
            String text = responses.get(status);
            HttpServer proxy = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            proxy.createContext("/", exchange -> answer(exchange, status, text));
            requests.clear();
            try (ClusterClient cluster = cluster(start(proxy))) {
                assertThatThrownBy(() -> cluster.sendWithWriteTimeout("GET", "/x", null))
                        .isInstanceOf(IndexUnavailableException.class)
                        .hasMessageContaining(text);
                assertThat(requests).hasSize(1);
            }
        }
    }

    @Test
    void theRequestAfterAResponseThatIsNotJsonGoesToTheNextNode() throws Exception {
        HttpServer proxy = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        proxy.createContext("/", exchange -> answer(exchange, 200, "<html>"));
        try (ClusterClient cluster = cluster(start(proxy) + "," + node(200))) {
            assertThatThrownBy(() -> cluster.sendWithReadTimeout("GET", "/x", null))
                    .isInstanceOf(IndexUnavailableException.class);
            assertThat(cluster.sendWithReadTimeout("GET", "/x", null).status()).isEqualTo(200);
        }
    }

    @Test
    void readsFailSoonAndWritesAtTheirDeadline() throws Exception {
        try (ClusterClient cluster = cluster(node(503))) {
            assertThatThrownBy(() -> cluster.sendWithReadTimeout("GET", "/x", null))
                    .isInstanceOf(IndexUnavailableException.class)
                    .hasMessageContaining("503");
            assertThat(requests).hasSize(3);
            long begun = System.nanoTime();
            assertThatThrownBy(() -> cluster.sendWithWriteTimeout("GET", "/x", null))
                    .isInstanceOf(IndexUnavailableException.class);
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(2));
            assertThat(requests).hasSizeBetween(5, 10);
        }
    }

    @Test
    void anIncompleteResponseTimesOut() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, 100);
            exchange.getResponseBody().write("{\"a\":".getBytes(StandardCharsets.UTF_8));
            exchange.getResponseBody().flush();
        });
        try (ClusterClient cluster =
                cluster(Map.of("PURI_OPENSEARCH_URL", start(server), "PURI_OPENSEARCH_TIMEOUT", "500ms"))) {
            assertThatThrownBy(() -> cluster.sendWithReadTimeout("GET", "/x", null))
                    .isInstanceOf(IndexUnavailableException.class)
                    .hasMessageContaining("does not answer");
        }
    }

    @Test
    void doesNotRetryARefusal() throws Exception {
        try (ClusterClient cluster = cluster(node(403))) {
            assertThatThrownBy(() -> cluster.sendWithWriteTimeout("GET", "/x", null))
                    .isInstanceOf(IndexUnavailableException.class);
            assertThat(requests).hasSize(1);
        }
        try (ClusterClient cluster = cluster(node(400))) {
            assertThatThrownBy(() -> cluster.sendWithWriteTimeout("GET", "/x", null))
                    .isInstanceOf(IllegalStateException.class);
            assertThat(requests).hasSize(2);
        }
    }

    @Test
    void sendsCredentialsToATrustedClusterOnly(@TempDir Path folder) throws Exception {
        HttpsServer server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(
                new HttpsConfigurator(TestCertificates.shared().server()));
        server.createContext("/", exchange -> answer(exchange, 200));
        String url = start(server).replace("http:", "https:");
        Map<String, String> environment = new HashMap<>(Map.of(
                "PURI_OPENSEARCH_URL", url,
                "PURI_OPENSEARCH_USER", "puri",
                "PURI_OPENSEARCH_PASSWORD", "p\u00e4ss:word"));
        try (ClusterClient cluster = cluster(environment)) {
            assertThatThrownBy(() -> cluster.sendWithReadTimeout("GET", "/x", null))
                    .isInstanceOf(IndexUnavailableException.class);
        }
        assertThat(authorizations).isEmpty();

        Path authority = TestCertificates.shared().certificate("ca", folder.resolve("ca.pem"));
        environment.put("PURI_OPENSEARCH_CA", authority.toString());
        try (ClusterClient cluster = cluster(environment)) {
            assertThat(cluster.sendWithWriteTimeout("GET", "/x", null).isFound())
                    .isTrue();
        }
        assertThat(authorizations)
                .containsExactly("Basic "
                        + Base64.getEncoder().encodeToString("puri:p\u00e4ss:word".getBytes(StandardCharsets.UTF_8)));
    }

    /** Starts a node that answers with these statuses and repeats the last one. */
    private String node(int... statuses) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        int before = requests.size();
        server.createContext(
                "/", exchange -> answer(exchange, statuses[Math.min(requests.size() - before, statuses.length - 1)]));
        return start(server);
    }

    private void answer(HttpExchange exchange, int status) throws IOException {
        answer(exchange, status, "{\"error\":{\"type\":\"t\",\"reason\":\"r\"}}");
    }

    private void answer(HttpExchange exchange, int status, String text) throws IOException {
        requests.add(exchange.getRequestURI().toString());
        authorizations.addAll(exchange.getRequestHeaders().getOrDefault("Authorization", List.of()));
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    private String start(HttpServer server) {
        servers.add(server);
        server.start();
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    private static ClusterClient cluster(String urls) {
        return cluster(Map.of("PURI_OPENSEARCH_URL", urls, "PURI_OPENSEARCH_WRITE_TIMEOUT", "1s"));
    }

    private static ClusterClient cluster(Map<String, String> environment) {
        return new ClusterClient(Settings.read(OpenSearchSettings.class, Map.of(), environment, null));
    }
}

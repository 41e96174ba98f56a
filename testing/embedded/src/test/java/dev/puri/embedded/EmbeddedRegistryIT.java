package dev.puri.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Each test waits for a schema registry that starts, so they run concurrently. */
@Execution(ExecutionMode.CONCURRENT)
class EmbeddedRegistryIT {
    private static final String SCHEMA = "{\"schema\": \"{\\\"type\\\": \\\"string\\\"}\"}";

    @TempDir
    private Path data;

    @Test
    void speaksConfluentsApiAndKeepsSchemasOverARestart() throws Exception {
        int port;
        String registered;
        try (EmbeddedRegistry registry = EmbeddedRegistry.start(data, 0)) {
            port = registry.port();
            assertThat(registry.url()).isEqualTo("http://127.0.0.1:" + port + "/apis/ccompat/v7");
            registered = send(HttpRequest.newBuilder(URI.create(registry.url() + "/subjects/kept-value/versions"))
                    .header("Content-Type", "application/vnd.schemaregistry.v1+json")
                    .POST(HttpRequest.BodyPublishers.ofString(SCHEMA))
                    .build());
            assertThat(registered).contains("\"id\"");
        }
        try (EmbeddedRegistry registry = EmbeddedRegistry.start(data, port)) {
            assertThat(registry.port()).isEqualTo(port);
            assertThat(get(registry, "/subjects")).isEqualTo("[\"kept-value\"]");
        }
    }

    @Test
    void closingEndsTheChild() {
        EmbeddedRegistry registry = EmbeddedRegistry.start(data, 0);
        assertThat(registry.isAlive()).isTrue();
        registry.close();
        assertThat(registry.isAlive()).isFalse();
        assertThat(registry.ended()).succeedsWithin(Duration.ofSeconds(20));
        registry.close();
    }

    @Test
    void theEndOfAKilledChildIsReported() {
        try (EmbeddedRegistry registry = EmbeddedRegistry.start(data, 0)) {
            assertThat(ProcessHandle.of(registry.pid()).orElseThrow().destroyForcibly())
                    .isTrue();

            assertThat(registry.ended())
                    .failsWithin(Duration.ofSeconds(20))
                    .withThrowableOfType(ExecutionException.class)
                    .withMessageContaining("the schema registry ended with status");
        }
    }

    @Test
    void theChildEndsWhenItsParentIsKilled() throws Exception {
        Process parent = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Parent.class.getName(),
                        data.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader output = parent.inputReader()) {
            String pid = output.readLine();
            assertThat(pid).as("the parent's report of its child").isNotNull();
            ProcessHandle child = ProcessHandle.of(Long.parseLong(pid)).orElseThrow();
            assertThat(child.isAlive()).isTrue();
            parent.destroyForcibly();
            await().atMost(Duration.ofSeconds(20)).until(() -> !child.isAlive());
        } finally {
            parent.destroyForcibly();
        }
        EmbeddedRegistry.start(data, 0).close();
    }

    @Test
    void aPortInUseIsNamed() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            assertThatThrownBy(() -> EmbeddedRegistry.start(data, taken.getLocalPort()))
                    .isInstanceOf(EmbeddedException.class)
                    .hasMessageContaining("127.0.0.1:" + taken.getLocalPort())
                    .hasMessageContaining("choose another port");
        }
    }

    @Test
    void aDirectoryInUseIsNamed() {
        try (EmbeddedRegistry holder = EmbeddedRegistry.start(data, 0)) {
            assertThatThrownBy(() -> EmbeddedRegistry.start(data, 0))
                    .isInstanceOf(EmbeddedException.class)
                    .hasMessageContaining(data.toString())
                    .hasMessageContaining("in use");
            assertThat(holder.isAlive()).isTrue();
        }
    }

    @Test
    void aFailedStartQuotesTheEndOfTheLog() throws IOException {
        Files.writeString(data.resolve("registry.mv.db"), "this is no database");
        assertThatThrownBy(() -> EmbeddedRegistry.start(data, 0))
                .isInstanceOf(EmbeddedException.class)
                .hasMessageContaining("registry.log")
                .hasMessageContaining("Caused by");
    }

    private static String get(EmbeddedRegistry registry, String path) throws Exception {
        return send(
                HttpRequest.newBuilder(URI.create(registry.url() + path)).GET().build());
    }

    private static String send(HttpRequest request) throws Exception {
        HttpResponse<String> response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return response.body();
    }

    /** Starts a registry, prints the child's pid and waits to be killed. */
    static final class Parent {
        private Parent() {}

        public static void main(String[] args) throws InterruptedException {
            EmbeddedRegistry registry = EmbeddedRegistry.start(Path.of(args[0]), 0);
            System.out.println(registry.pid());
            Thread.sleep(Duration.ofMinutes(2).toMillis());
        }
    }
}

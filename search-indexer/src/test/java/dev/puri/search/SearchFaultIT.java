package dev.puri.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.testkit.Broker;
import dev.puri.testkit.Contract;
import dev.puri.testkit.RestartableBroker;
import dev.puri.testkit.RestartableSchemaRegistry;
import dev.puri.testkit.SchemaRegistryFixture;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An indexer during outages of brokers, schema registry and disk. */
@Timeout(180)
final class SearchFaultIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final Contract INTERNAL_API = new Contract(CLIENT, "/openapi-search.json");

    @Test
    void aCompleteIndexServesDuringOutages(@TempDir Path folder) throws Exception {
        try (RestartableBroker broker = Broker.start();
                RestartableSchemaRegistry registry = SchemaRegistryFixture.start();
                TopicWriter topics = new TopicWriter(broker.bootstrapServers(), registry.url())) {
            topics.createTopics();
            topics.fill("soundcloud:tracks", 0, 50);
            registry.stop();
            try (SearchServer server = server(topics, folder)) {
                await().atMost(TIMEOUT)
                        .until(() -> send(server, "/health/ready").body().contains("waiting for the schema registry"));
                assertThat(send(server, "/v1/search").statusCode()).isEqualTo(503);
                registry.start();
                await().atMost(TIMEOUT).until(server::isReady);
                assertThat(total(server)).isEqualTo(50);
                // On a busy machine the last response with end offsets may be late.
                await().atMost(TIMEOUT)
                        .until(() -> send(server, "/v1/search")
                                .headers()
                                .firstValue("Puri-Index-Lag")
                                .isEmpty());

                broker.stop();
                await().atMost(TIMEOUT).until(() -> !server.isReady());
                await().atMost(TIMEOUT)
                        .until(() -> send(server, "/v1/search")
                                .headers()
                                .firstValue("Puri-Index-Lag")
                                .isPresent());
                assertThat(total(server)).isEqualTo(50);
            }
            // The index also serves after a start without brokers.
            try (SearchServer server = server(topics, folder)) {
                await().atMost(TIMEOUT).until(() -> total(server) == 50);
                assertThat(server.isReady()).isFalse();
                broker.start();
                await().atMost(TIMEOUT).until(server::isReady);
                topics.put("soundcloud:tracks:7", null, null, 9000);
                await().atMost(TIMEOUT).until(() -> total(server) == 49);
            }
        }
    }

    @Test
    void reportsAFullDiskAndNotAnIncompleteIndex(@TempDir Path folder) throws Exception {
        SchemaRegistryFixture registry = SchemaRegistryFixture.shared();
        Path disk = Files.createDirectory(folder.resolve("disk"));
        assumeThat(run("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk.toString()))
                .as("a small file system can be mounted")
                .isZero();
        try (RestartableBroker broker = Broker.start();
                TopicWriter topics = new TopicWriter(broker.bootstrapServers(), registry.url())) {
            topics.createTopics();
            topics.fill("soundcloud:tracks", 0, 50);
            try (SearchServer server = server(topics, disk.resolve("state"))) {
                await().atMost(TIMEOUT).until(server::isReady);
                Path filler = disk.resolve("filler");
                fill(filler);
                topics.fill("soundcloud:tracks", 50, 60);

                await().atMost(TIMEOUT).until(() -> {
                    HttpResponse<String> search = send(server, "/v1/search");
                    assertThat(search.body()).doesNotContain("not-ready", "not complete");
                    return send(server, "/health/ready").body().contains("No space left on device");
                });
                assertThat(send(server, "/health/ready").body()).contains(disk.toString());

                Files.delete(filler);
                await().atMost(TIMEOUT).until(() -> total(server) == 60 && server.isReady());
            }
        } finally {
            assertThat(run("umount", "-l", disk.toString())).isZero();
        }
    }

    private static int run(String... command) throws Exception {
        try {
            return new ProcessBuilder(command).inheritIO().start().waitFor();
        } catch (IOException e) {
            return -1;
        }
    }

    /** Writes until the disk is full. */
    private static void fill(Path file) {
        byte[] part = new byte[1 << 12];
        try (OutputStream out = Files.newOutputStream(file)) {
            while (true) {
                out.write(part);
            }
        } catch (IOException e) {
            assertThat(e).hasMessageContaining("No space left");
        }
    }

    @Test
    void refusesToServeAnIndexWhoseNextRecordsWereDeleted(@TempDir Path folder) throws Exception {
        SchemaRegistryFixture registry = SchemaRegistryFixture.shared();
        try (RestartableBroker broker = Broker.start();
                TopicWriter topics = new TopicWriter(broker.bootstrapServers(), registry.url())) {
            topics.createTopics();
            topics.fill("soundcloud:tracks", 0, 50);
            try (SearchServer server = server(topics, folder)) {
                await().atMost(TIMEOUT).until(server::isReady);
                assertThat(total(server)).isEqualTo(50);
            }
            topics.fill("soundcloud:tracks", 50, 60);
            topics.deleteRecords();
            topics.fill("soundcloud:tracks", 60, 65);
            try (SearchServer server = server(topics, folder)) {
                await().atMost(TIMEOUT)
                        .until(() -> send(server, "/v1/search").body().contains("were deleted"));
                assertThat(send(server, "/v1/search").statusCode()).isEqualTo(503);
                assertThat(send(server, "/health/ready").body())
                        .containsPattern(
                                "records of partition [012] of puri.identities.v1 before offset \\d+ were deleted");
                assertThat(send(server, "/v1/digest").statusCode()).isEqualTo(503);
            }
        }
    }

    private static SearchServer server(TopicWriter topics, Path folder) {
        return SearchServer.start(topics.settings(Map.of("max.lag.age", "2s", "state.dir", folder.toString())));
    }

    private static long total(SearchServer server) throws Exception {
        HttpResponse<String> response = send(server, "/v1/search?limit=1");
        return response.statusCode() == 200
                ? JSON.readTree(response.body()).path("total").asLong()
                : -1;
    }

    private static HttpResponse<String> send(SearchServer server, String path) throws Exception {
        return INTERNAL_API.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
                .build());
    }
}

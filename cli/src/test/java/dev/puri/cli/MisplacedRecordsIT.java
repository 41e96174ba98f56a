package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.puri.cli.io.LogReader;
import dev.puri.projection.wait.Tokens;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Topics;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A foreign producer writes records of a pURI to another partition than the registrar does. */
class MisplacedRecordsIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final String DELETED = "music:tracks:1";
    private static final String OVERWRITTEN = "music:tracks:2";
    private static final String GHOST = "music:tracks:ghost";

    @TempDir
    private Path data;

    private TracksStack stack;

    @BeforeEach
    void start() {
        stack = TracksStack.start(data);
        stack.publishTracks(8);
        stack.publish("{\"type\":\"moved\",\"puri\":\"" + OVERWRITTEN + "\",\"shard\":\"us-1\"}");
    }

    @AfterEach
    void stop() {
        // Null if the start failed.
        if (stack != null) {
            stack.close();
        }
    }

    @Test
    void copiesSkipMisplacedRecords() throws Exception {
        byte[] oldRow = valuesOf(Topics.IDENTITIES, OVERWRITTEN).getFirst();
        byte[] document = valuesOf(Topics.DOCUMENTS, OVERWRITTEN).getFirst();
        stack.send(List.of(
                misplaced(Topics.IDENTITIES, DELETED, null),
                misplaced(Topics.DOCUMENTS, DELETED, null),
                misplaced(Topics.IDENTITIES, OVERWRITTEN, oldRow),
                misplaced(Topics.IDENTITIES, GHOST, oldRow),
                misplaced(Topics.DOCUMENTS, GHOST, document)));

        awaitMetric(stack.servers().resolverUrl(), "puri_table_undecodable_total", 3);
        awaitMetric(stack.servers().indexerUrl(), "puri_search_undecodable_total{kind=\"identity\"", 3);
        awaitMetric(stack.servers().indexerUrl(), "puri_search_undecodable_total{kind=\"document\"", 2);
        assertThat(shardOf(DELETED)).isEqualTo("br-1");
        assertThat(shardOf(OVERWRITTEN)).isEqualTo("us-1");
        assertThat(stack.run("", "resolve", GHOST).out()).contains("unknown");
        assertThat(stack.run("", "search", "\"Song 1\"").out()).contains(DELETED);
        assertThat(stack.run("", "identities", "attributes").outLines().stream()
                        .map(line -> Json.parse(line).path("puri").asText())
                        .toList())
                .hasSize(8)
                .doesNotHaveDuplicates()
                .doesNotContain(GHOST);
        CommandLineRun run = stack.verify();
        List<JsonNode> lines = run.outLines().stream().map(Json::parse).toList();
        assertThat(lines.stream()
                        .filter(line -> line.has("difference"))
                        .map(line -> line.path("copy").asText() + " "
                                + line.path("puri").asText() + " "
                                + line.path("difference").asText())
                        .toList())
                .as("tombstones are harmless, rows remain in the log")
                .containsExactlyInAnyOrder(
                        Topics.IDENTITIES + " " + OVERWRITTEN + " extra",
                        Topics.IDENTITIES + " " + GHOST + " extra",
                        Topics.DOCUMENTS + " " + GHOST + " extra");
        assertThat(stack.verify("--part", "registrar", "--repair").err())
                .contains(OVERWRITTEN, "A tombstone in partition " + otherPartition(OVERWRITTEN) + " deletes it");

        stack.send(List.of(
                misplaced(Topics.IDENTITIES, OVERWRITTEN, null),
                misplaced(Topics.IDENTITIES, GHOST, null),
                misplaced(Topics.DOCUMENTS, GHOST, null)));
        CommandLineRun cleaned = stack.verify();
        assertThat(cleaned.status()).as(cleaned.out() + cleaned.err()).isZero();
        assertThat(shardOf(OVERWRITTEN)).isEqualTo("us-1");
    }

    @Test
    void anUnreadableDocumentIsReportedAndTheOthersArePrinted() throws Exception {
        int partition;
        try (LogReader reader = stack.settings().logReader()) {
            partition = Tokens.partition(
                    Puri.parse(DELETED), reader.partitions(Topics.DOCUMENTS).size());
        }
        stack.send(List.of(new ProducerRecord<>(
                Topics.DOCUMENTS, partition, DELETED.getBytes(StandardCharsets.UTF_8), new byte[] {9, 9, 9})));

        CommandLineRun run = stack.run("", "identities", "attributes");

        assertThat(run.status()).isEqualTo(1);
        assertThat(run.outLines()).hasSize(7).noneMatch(line -> line.contains(DELETED + "\""));
        assertThat(run.err())
                .contains("the document of " + DELETED + " at " + Topics.DOCUMENTS + "-" + partition + "@")
                .contains("number of unreadable documents: 1, so the output lacks attributes")
                .doesNotContain("\tat ");
    }

    private ProducerRecord<byte[], byte[]> misplaced(String topic, String puri, byte @Nullable [] value) {
        return new ProducerRecord<>(topic, otherPartition(puri), puri.getBytes(StandardCharsets.UTF_8), value);
    }

    private int otherPartition(String puri) {
        try (LogReader reader = stack.settings().logReader()) {
            int partitions = reader.partitions(Topics.IDENTITIES).size();
            return (Tokens.partition(Puri.parse(puri), partitions) + 1) % partitions;
        }
    }

    /** Returns the values of the records of a pURI. */
    private List<byte[]> valuesOf(String topic, String puri) {
        byte[] key = puri.getBytes(StandardCharsets.UTF_8);
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        try (LogReader reader = stack.settings().logReader()) {
            reader.read(reader.beginningOffsets(reader.partitions(topic)), records::add);
        }
        return records.stream()
                .filter(record -> Arrays.equals(record.key(), key))
                .map(ConsumerRecord::value)
                .toList();
    }

    private String shardOf(String puri) {
        return Json.parse(stack.run("", "-o", "json", "resolve", puri).out())
                .at("/results/0/shard")
                .asText();
    }

    private void awaitMetric(String url, String name, double value) {
        await().atMost(TIMEOUT)
                .untilAsserted(() -> assertThat(metrics(url)
                                .lines()
                                .filter(line -> line.startsWith(name))
                                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                                .sum())
                        .isEqualTo(value));
    }

    private static String metrics(String url) throws Exception {
        try (HttpClient http = HttpClient.newHttpClient()) {
            return http.send(
                            HttpRequest.newBuilder(URI.create(url + "/metrics")).build(), BodyHandlers.ofString())
                    .body();
        }
    }
}

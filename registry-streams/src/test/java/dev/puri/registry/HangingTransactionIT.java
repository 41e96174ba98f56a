package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.schemas.log.Topics;
import dev.puri.testkit.HangingTransaction;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The topology on a cluster in which a transaction never ends. */
@Timeout(300)
final class HangingTransactionIT {
    private static final Duration SOON = Duration.ofSeconds(90);
    private static final String CHANGELOG =
            "puri-registry-" + RegistryTopology.CHANGELOG_STORES.iterator().next() + "-changelog";

    private final HttpClient http = HttpClient.newHttpClient();
    private final RegistryStack stack = new RegistryStack(RegistryStack.sharedSchemaRegistry(), Set.of("music"));

    @AfterEach
    void stop() {
        stack.close();
        http.close();
    }

    @Test
    void aRestoreReportsAHangingTransactionAndContinuesAfterItsAbort(@TempDir Path folder) throws Exception {
        try (RegistryStreams first = RegistryStreams.start(stack.settings(folder.resolve("first")))) {
            await().atMost(SOON).until(first::isReady);
            publishSomething();
        }
        HangingTransaction left = HangingTransaction.leaveCommitted(
                bootstrapServers(),
                new TopicPartition(CHANGELOG, 0),
                "puri-registry-left",
                new TopicPartition(Topics.REJECTIONS, 1));

        // Without the former stores, so that they are restored.
        try (RegistryStreams second = RegistryStreams.start(stack.settings(folder.resolve("second")))) {
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(get(second, "/health/ready"))
                            .contains(CHANGELOG + "-0 cannot be read beyond offset")
                            .contains("transactional id puri-registry-left")
                            .contains("has committed it elsewhere")
                            .contains("kafka-transactions.sh abort --topic " + CHANGELOG + " --partition 0"));
            assertThat(second.isReady()).isFalse();
            assertThat(get(second, "/metrics")).contains("puri_transactions_hanging 1.0");

            left.abort();

            await().atMost(SOON).until(second::isReady);
            assertThat(get(second, "/metrics")).contains("puri_transactions_hanging 0.0");
        }
    }

    @Test
    void aNamespacesOwnTopicIsReportedAndAffectsNobodyElse(@TempDir Path folder) throws Exception {
        HangingTransaction left = HangingTransaction.leave(
                bootstrapServers(), new TopicPartition(Topics.eventsTopicOf("music"), 0), "music-producer");
        try (RegistryStreams streams = RegistryStreams.start(stack.settings(folder))) {
            await().atMost(SOON)
                    .untilAsserted(
                            () -> assertThat(get(streams, "/metrics")).contains("puri_transactions_hanging 1.0"));

            await().atMost(SOON).until(streams::isReady);
            assertThat(get(streams, "/health/ready")).contains("\"transactionalId\":\"music-producer\"");
            left.abort();
        }
    }

    private void publishSomething() throws Exception {
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(stack.clientProperties(), new ByteArraySerializer(), new ByteArraySerializer())) {
            byte[] key = "a:b:c".getBytes(StandardCharsets.UTF_8);
            assertThat(producer.send(new ProducerRecord<>(Topics.EVENTS, key, new byte[] {1}))
                            .get())
                    .isNotNull();
        }
    }

    private String bootstrapServers() {
        return String.valueOf(stack.clientProperties().get("bootstrap.servers"));
    }

    private String get(RegistryStreams streams, String path) throws Exception {
        URI uri = URI.create("http://127.0.0.1:" + streams.port() + path);
        return http.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString())
                .body();
    }
}

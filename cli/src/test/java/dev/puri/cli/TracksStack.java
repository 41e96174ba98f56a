package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.registry.RegistryTopics;
import dev.puri.settings.KafkaProperties;
import dev.puri.testkit.SchemaRegistryFixture;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A whole registry in this process, with the collection {@code music:tracks}, and commands that use it. Only the schema
 * registry is shared with other tests, because it takes longer to start than the rest.
 */
record TracksStack(DrillStack servers) implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final String COLLECTIONS = "collections:\n  - {name: music:tracks, prefix: trk, search: true}\n";

    static TracksStack start(Path data) {
        TracksStack stack = new TracksStack(
                new DrillStack(data, data, SchemaRegistryFixture.shared().url(), RegistryTopics.DEFAULT_PARTITIONS)
                        .startServers(true));
        stack.servers().closeIfItFails(() -> {
            CommandLineRun applied = stack.run(COLLECTIONS, "collections", "apply", "-f", "-");
            assertThat(applied.status()).as(applied.err()).isZero();
        });
        return stack;
    }

    /** Returns settings with which a stack finds the topic of a new namespace within a second, instead of 30 s. */
    static StackSettings findsNewTopicsSoon() {
        return new StackSettings().withEnvironment(Map.of("PURI_KAFKA_METADATA_MAX_AGE_MS", "1000"));
    }

    CommandLineRun run(String input, String... arguments) {
        return CommandLineRun.reading(
                Map.of(
                        "PURI_BOOTSTRAP_SERVER", servers.bootstrapServers(),
                        "PURI_SCHEMA_REGISTRY", servers.schemaRegistryUrl(),
                        "PURI_RESOLVER", servers.resolverUrl(),
                        "PURI_SEARCH", servers.indexerUrl()),
                input,
                arguments);
    }

    /** Returns the settings of a command that uses this registry. */
    CliSettings settings() {
        return new CliSettings(
                servers.bootstrapServers(),
                URI.create(servers.schemaRegistryUrl()),
                URI.create(servers.resolverUrl()),
                URI.create(servers.indexerUrl()),
                Optional.empty(),
                KafkaProperties.NONE);
    }

    /** Runs {@code puri verify} with lines of JSON as its output. */
    CommandLineRun verify(String... options) {
        List<String> words = new ArrayList<>(List.of("-o", "json", "verify"));
        words.addAll(List.of(options));
        return run("", words.toArray(String[]::new));
    }

    /** Publishes lines and waits for the outcomes. */
    void publish(String lines) {
        CommandLineRun published = run(lines, "publish", "-f", "-", "--wait");
        assertThat(published.status()).as(published.err()).isZero();
    }

    /** Publishes the creations of {@code music:tracks:1} to a number. */
    void publishTracks(int count) {
        publish(IntStream.rangeClosed(1, count).mapToObj(TracksStack::created).collect(Collectors.joining("\n")));
    }

    static String created(Object identifier) {
        return "{\"type\":\"created\",\"puri\":\"music:tracks:" + identifier
                + "\",\"owner\":\"catalog\",\"shard\":\"br-1\",\"attributes\":{\"title\":\"Song " + identifier + "\"}}";
    }

    /** Writes records as a foreign producer, and waits until the brokers have them. */
    void send(List<ProducerRecord<byte[], byte[]>> records) throws Exception {
        try (Producer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", servers.bootstrapServers()),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
            List<Future<RecordMetadata>> sent =
                    records.stream().map(producer::send).toList();
            for (Future<RecordMetadata> each : sent) {
                each.get();
            }
        }
    }

    /** Deletes all records of partitions of a topic, as an operator does who takes the topic for another. */
    void deleteRecords(String topic, List<Integer> partitions) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", servers.bootstrapServers()))) {
            // Brokers delete records only if the policy contains delete, and hear of a new policy a moment later.
            admin.incrementalAlterConfigs(Map.of(
                            new ConfigResource(ConfigResource.Type.TOPIC, topic),
                            List.of(new AlterConfigOp(
                                    new ConfigEntry("cleanup.policy", "compact,delete"), AlterConfigOp.OpType.SET))))
                    .all()
                    .get();
            for (int partition : partitions) {
                await().atMost(TIMEOUT).ignoreExceptions().until(() -> {
                    admin.deleteRecords(Map.of(new TopicPartition(topic, partition), RecordsToDelete.beforeOffset(-1)))
                            .all()
                            .get();
                    return true;
                });
            }
        }
    }

    @Override
    public void close() {
        servers.close();
    }
}

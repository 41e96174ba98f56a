package dev.puri.registry;

import dev.puri.projection.TimestampInterceptor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.LogAndFailExceptionHandler;

/** The properties of Kafka Streams. A comment gives the reason for each value that is not Kafka's default. */
public final class StreamsProperties {
    private static final int MAX_PARTITION_FETCH_BYTES = 64 * 1024;

    private StreamsProperties() {}

    static Properties of(StreamsSettings settings) {
        Properties properties = tuning(settings);
        properties.putAll(settings.kafka().byName());
        // The guarantees, after the operator's properties, which must not override them.
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, settings.streamsApplicationId());
        properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, settings.bootstrapServer());
        properties.put(
                StreamsConfig.STATE_DIR_CONFIG, settings.streamsStateDir().toString());
        properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        // A change of the topology would change generated names, and the stores would lose their data.
        properties.put(StreamsConfig.ENSURE_EXPLICIT_INTERNAL_RESOURCE_NAMING_CONFIG, true);
        properties.put(StreamsConfig.consumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG), "earliest");
        properties.put(
                StreamsConfig.globalConsumerPrefix(ConsumerConfig.INTERCEPTOR_CLASSES_CONFIG),
                TimestampInterceptor.class.getName());
        // The deserializers return byte arrays and cannot fail, so a failure is a bug. The registrar refuses invalid
        // events.
        properties.put(StreamsConfig.DESERIALIZATION_EXCEPTION_HANDLER_CLASS_CONFIG, LogAndFailExceptionHandler.class);
        RegistryTopics.internalConfigs()
                .forEach((name, value) -> properties.put(StreamsConfig.topicPrefix(name), value));
        if (settings.streamsReplicationFactor() >= RegistryTopics.SAFE_REPLICATION) {
            properties.put(StreamsConfig.topicPrefix(RegistryTopics.MIN_INSYNC), RegistryTopics.REQUIRED_MIN_INSYNC);
        }
        return properties;
    }

    /**
     * Returns the properties that determine throughput, latency and recovery. An operator's properties override these
     * properties. The baseline of the benchmarks uses them too.
     *
     * @throws UncheckedIOException if the state directory cannot be used
     */
    public static Properties tuning(StreamsSettings settings) {
        Properties properties = new Properties();
        properties.put(
                StreamsConfig.COMMIT_INTERVAL_MS_CONFIG,
                settings.streamsCommitInterval().toMillis());
        properties.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, settings.streamsThreads());
        properties.put(StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG, settings.streamsStandbys());
        properties.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, settings.streamsReplicationFactor());
        // The order of records of different topics does not matter, so no task waits for an idle topic.
        properties.put(StreamsConfig.MAX_TASK_IDLE_MS_CONFIG, StreamsConfig.MAX_TASK_IDLE_MS_DISABLED);
        // A broker rejects the first write and the offsets of a transaction until it has written the markers of the
        // previous transaction, which takes milliseconds. The back-off of a batch grows from this value to 1 s. The
        // back-off of other transactional requests is always this value.
        properties.put(StreamsConfig.producerPrefix(ProducerConfig.RETRY_BACKOFF_MS_CONFIG), 5);
        // A thread processes all records that it has fetched of a partition before it continues with the next
        // partition. Kafka's default, 1 MiB, contains thousands of events or ten thousand claims, so the backlog of one
        // partition would delay other partitions by seconds.
        putForMainConsumer(
                properties, settings, ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, MAX_PARTITION_FETCH_BYTES);
        // The topology finds the topic of a new namespace within this time.
        properties.put(
                ConsumerConfig.METADATA_MAX_AGE_CONFIG, Duration.ofSeconds(30).toMillis());
        StoreMemory.configure(properties, settings.streamsStoreMemory());
        // Static membership: a killed instance that restarts gets its partitions back at once, without waiting for a
        // session time-out.
        properties.put(
                StreamsConfig.mainConsumerPrefix(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG),
                instanceId(settings.streamsStateDir()));
        putForMainConsumer(properties, settings, ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, (int)
                Duration.ofSeconds(10).toMillis());
        return properties;
    }

    /**
     * Sets a default for the main consumer, unless an operator has set the property without this prefix. The prefixed
     * property would override the operator's.
     */
    private static void putForMainConsumer(Properties properties, StreamsSettings settings, String name, Object value) {
        Map<String, String> operatorProperties = settings.kafka().byName();
        if (!operatorProperties.containsKey(name)
                && !operatorProperties.containsKey(StreamsConfig.consumerPrefix(name))) {
            properties.put(StreamsConfig.mainConsumerPrefix(name), value);
        }
    }

    /** Reads the id of this instance from the state directory, or creates it there. It identifies the stores' owner. */
    private static String instanceId(Path stateDir) {
        Path file = stateDir.resolve("instance-id");
        try {
            Files.createDirectories(stateDir);
            String stored = Files.exists(file) ? Files.readString(file).strip() : "";
            if (!stored.isEmpty()) {
                return stored;
            }
            String created = UUID.randomUUID().toString();
            // Moved atomically, so that a kill does not leave an incomplete id.
            Path draft = Files.writeString(stateDir.resolve("instance-id.draft"), created);
            Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            return created;
        } catch (IOException e) {
            throw new UncheckedIOException("the state directory " + stateDir + " cannot be used: " + e, e);
        }
    }
}

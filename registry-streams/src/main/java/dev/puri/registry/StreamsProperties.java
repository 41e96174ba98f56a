package dev.puri.registry;

import dev.puri.tail.RecordTimes;
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
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.LogAndFailExceptionHandler;

/** The properties of Kafka Streams, and the reason for each that differs from its default. */
public final class StreamsProperties {
    private static final int MAX_PARTITION_FETCH_BYTES = 64 * 1024;

    private StreamsProperties() {}

    static Properties of(StreamsSettings settings) {
        Properties properties = tuning(settings);
        properties.putAll(settings.kafka().byName());
        // After what was passed on: without these the registry would not be one.
        putGuarantees(properties, settings);
        return properties;
    }

    private static void putGuarantees(Properties properties, StreamsSettings settings) {
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, settings.streamsApplicationId());
        properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, settings.bootstrapServer());
        properties.put(
                StreamsConfig.STATE_DIR_CONFIG, settings.streamsStateDir().toString());
        properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        // Stores keep their names when the topology changes, or they would be orphaned.
        properties.put(StreamsConfig.ENSURE_EXPLICIT_INTERNAL_RESOURCE_NAMING_CONFIG, true);
        properties.put(StreamsConfig.consumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG), "earliest");
        properties.put(
                StreamsConfig.globalConsumerPrefix(ConsumerConfig.INTERCEPTOR_CLASSES_CONFIG),
                RecordTimes.class.getName());
        // A record that cannot be processed is a bug of ours; everything else is refused, not thrown.
        properties.put(StreamsConfig.DESERIALIZATION_EXCEPTION_HANDLER_CLASS_CONFIG, LogAndFailExceptionHandler.class);
        // The topology's own topics forget what the public ones forget. Retention is for those that pass
        // events on, which Kafka Streams empties but does not delete from the disk of a quiet partition.
        putTopicConfig(properties, TopicConfig.MAX_COMPACTION_LAG_MS_CONFIG, Duration.ofDays(1));
        putTopicConfig(properties, TopicConfig.SEGMENT_MS_CONFIG, Duration.ofDays(1));
        putTopicConfig(properties, TopicConfig.DELETE_RETENTION_MS_CONFIG, Duration.ofDays(7));
        putTopicConfig(properties, TopicConfig.RETENTION_MS_CONFIG, RegistryTopics.FORGET_WITHIN);
        if (settings.streamsReplicationFactor() >= RegistryTopics.SAFE_REPLICATION) {
            properties.put(StreamsConfig.topicPrefix(RegistryTopics.MIN_INSYNC), RegistryTopics.MIN_INSYNC_WANTED);
        }
    }

    private static void putTopicConfig(Properties properties, String name, Duration value) {
        properties.put(StreamsConfig.topicPrefix(name), Long.toString(value.toMillis()));
    }

    /**
     * Returns the properties that decide how fast the topology is and how soon it recovers. An operator's own override
     * them. The benchmarks' baseline runs with the same ones.
     *
     * @throws UncheckedIOException when the state directory cannot be used
     */
    public static Properties tuning(StreamsSettings settings) {
        Properties properties = new Properties();
        properties.put(
                StreamsConfig.COMMIT_INTERVAL_MS_CONFIG,
                settings.streamsCommitInterval().toMillis());
        properties.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, settings.streamsThreads());
        properties.put(StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG, settings.streamsStandbys());
        properties.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, settings.streamsReplicationFactor());
        // The order between topics means nothing, so no task waits for a topic that is idle.
        properties.put(StreamsConfig.MAX_TASK_IDLE_MS_CONFIG, StreamsConfig.MAX_TASK_IDLE_MS_DISABLED);
        // A broker refuses the first write and the offsets of a transaction until the markers of the one before are
        // written, which takes milliseconds. Batches back off from here to a second, transactional requests do not.
        properties.put(StreamsConfig.producerPrefix(ProducerConfig.RETRY_BACKOFF_MS_CONFIG), 5);
        // A thread processes all that it fetched of a partition before it takes the next partition. Kafka's default
        // of 1 MiB is thousands of events or ten thousand claims, so a partition with a backlog would wait for seconds.
        putForMainConsumer(
                properties, settings, ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, MAX_PARTITION_FETCH_BYTES);
        // How soon a new namespace's topic is found.
        properties.put(
                ConsumerConfig.METADATA_MAX_AGE_CONFIG, Duration.ofSeconds(30).toMillis());
        StoreMemory.configure(properties, settings.streamsStoreMemory());
        // A killed instance that comes back takes its own place at once instead of waiting for its ghost.
        properties.put(
                StreamsConfig.mainConsumerPrefix(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG),
                instanceId(settings.streamsStateDir()));
        putForMainConsumer(properties, settings, ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, (int)
                Duration.ofSeconds(10).toMillis());
        return properties;
    }

    /** The name with the main consumer's prefix outranks the others, by which an operator may have set it. */
    private static void putForMainConsumer(Properties properties, StreamsSettings settings, String name, Object value) {
        Map<String, String> given = settings.kafka().byName();
        if (!given.containsKey(name) && !given.containsKey(StreamsConfig.consumerPrefix(name))) {
            properties.put(StreamsConfig.mainConsumerPrefix(name), value);
        }
    }

    /** Kept beside the stores, for it stands for them. */
    private static String instanceId(Path stateDir) {
        Path file = stateDir.resolve("instance-id");
        try {
            Files.createDirectories(stateDir);
            String kept = Files.exists(file) ? Files.readString(file).strip() : "";
            if (!kept.isEmpty()) {
                return kept;
            }
            String made = UUID.randomUUID().toString();
            // Whole or not at all: a kill in between must not leave half a name.
            Path draft = Files.writeString(stateDir.resolve("instance-id.draft"), made);
            Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            return made;
        } catch (IOException e) {
            throw new UncheckedIOException("the state directory " + stateDir + " cannot be used: " + e, e);
        }
    }
}

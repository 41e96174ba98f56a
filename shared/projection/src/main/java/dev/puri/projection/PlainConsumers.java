package dev.puri.projection;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Creates consumers that read committed records only and belong to no group. The caller uses each consumer in one
 * thread and closes it.
 *
 * @param kafka the user's properties; properties that correctness depends on are overridden
 */
public record PlainConsumers(Map<String, String> kafka, String bootstrapServers)
        implements Supplier<Consumer<byte[], byte[]>> {
    private static final CloseOptions CLOSE_OPTIONS = CloseOptions.timeout(Duration.ofMillis(200));

    public PlainConsumers {
        kafka = Map.copyOf(kafka);
    }

    /** Closes a consumer without waiting for brokers, which it does not need without a group. */
    public static void close(Consumer<?, ?> consumer) {
        // An interrupted thread could not close it.
        boolean interrupted = Thread.interrupted();
        consumer.close(CLOSE_OPTIONS);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * @throws org.apache.kafka.common.KafkaException if no consumer can be created with the properties
     */
    @Override
    public Consumer<byte[], byte[]> get() {
        Map<String, Object> config = new HashMap<>(kafka);
        config.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers);
        config.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        config.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        config.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        // The caller decides where to continue if the topic no longer has an offset.
        config.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        config.put(ConsumerConfig.METADATA_MAX_AGE_CONFIG, "30000");
        return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }
}

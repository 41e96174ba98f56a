package dev.puri.tail;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** Asks the brokers about one topic. Thread-safe. */
public final class BrokerTopic implements AutoCloseable {
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(5);

    private final String topic;
    private final Admin admin;

    /** The brokers do not answer now. The message says why. */
    public static final class UnreachableException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        UnreachableException(String message, Throwable cause) {
            super(message, cause);
        }

        /** Whether the brokers deny this principal the answer, so that asking again is useless. */
        public boolean isForbidden() {
            return getCause() instanceof ExecutionException answer
                    && answer.getCause() instanceof AuthorizationException;
        }
    }

    /**
     * Creates the client, which asks for nothing yet.
     *
     * @throws org.apache.kafka.common.KafkaException when no client can be created with the properties
     */
    public BrokerTopic(Map<String, String> kafka, String bootstrapServers, String topic) {
        this.topic = topic;
        Properties config = new Properties();
        config.putAll(kafka);
        config.put(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers);
        config.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, Long.toString(REQUEST_TIMEOUT.toMillis()));
        config.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, Long.toString(REQUEST_TIMEOUT.toMillis()));
        admin = Admin.create(config);
    }

    /**
     * The topic's id and end offsets.
     *
     * @throws UnreachableException when the topic is missing or no broker answers in time
     */
    public TopicEnds ends(InstantSource clock) {
        // Before the brokers are asked: they may not report what is written while they answer.
        ObservationTime at = ObservationTime.now(clock);
        TopicDescription description = await(Objects.requireNonNull(
                admin.describeTopics(List.of(topic)).topicNameValues().get(topic)));
        List<Integer> partitions = description.partitions().stream()
                .map(TopicPartitionInfo::partition)
                .toList();
        return new TopicEnds(description.topicId(), new EndOffsets(offsets(partitions, OffsetSpec.latest()), at));
    }

    /**
     * The first offset of each partition.
     *
     * @throws UnreachableException when no broker answers in time
     */
    public Map<Integer, Long> begins(TopicEnds ends) {
        return offsets(ends.byPartition().keySet(), OffsetSpec.earliest());
    }

    /**
     * How long the brokers keep tombstones ({@code delete.retention.ms}); zero when they do not say.
     *
     * @throws UnreachableException when no broker answers in time
     */
    public Duration tombstonesKept() {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        Config config = await(Objects.requireNonNull(
                admin.describeConfigs(List.of(resource)).values().get(resource)));
        ConfigEntry kept = config.get(TopicConfig.DELETE_RETENTION_MS_CONFIG);
        return Duration.ofMillis(kept == null || kept.value() == null ? 0 : Long.parseLong(kept.value()));
    }

    /**
     * The high watermarks of partitions: their ends with records that are not committed yet.
     *
     * @return completes on the client's thread; exceptionally when no broker answers in time
     */
    public CompletionStage<Map<Integer, Long>> highWatermarks(Collection<Integer> partitions) {
        Map<TopicPartition, OffsetSpec> asked = new HashMap<>();
        partitions.forEach(partition -> asked.put(new TopicPartition(topic, partition), OffsetSpec.latest()));
        return admin.listOffsets(asked, new ListOffsetsOptions(IsolationLevel.READ_UNCOMMITTED))
                .all()
                .toCompletionStage()
                .thenApply(BrokerTopic::byPartition);
    }

    private Map<Integer, Long> offsets(Collection<Integer> partitions, OffsetSpec which) {
        Map<TopicPartition, OffsetSpec> asked = new HashMap<>();
        partitions.forEach(partition -> asked.put(new TopicPartition(topic, partition), which));
        return byPartition(await(admin.listOffsets(asked, new ListOffsetsOptions(IsolationLevel.READ_COMMITTED))
                .all()));
    }

    private static Map<Integer, Long> byPartition(Map<TopicPartition, ListOffsetsResult.ListOffsetsResultInfo> found) {
        Map<Integer, Long> offsets = new TreeMap<>();
        found.forEach((partition, each) -> offsets.put(partition.partition(), each.offset()));
        return offsets;
    }

    /** Fails pending questions within a second; may be called by any thread, and more than once. */
    @Override
    public void close() {
        admin.close(Duration.ofSeconds(1));
    }

    private <T> T await(KafkaFuture<T> answer) {
        try {
            return answer.get(2 * REQUEST_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new UnreachableException("interrupted", e);
        } catch (TimeoutException e) {
            throw new UnreachableException("no broker answers", e);
        } catch (ExecutionException e) {
            throw new UnreachableException(reason(Objects.requireNonNullElse(e.getCause(), e)), e);
        }
    }

    private String reason(Throwable cause) {
        if (cause instanceof UnknownTopicOrPartitionException) {
            return "there is no topic " + topic + " yet; 'puri topics create' makes it";
        }
        return cause instanceof org.apache.kafka.common.errors.TimeoutException
                ? "no broker answers"
                : "the broker answers " + cause.getClass().getSimpleName() + ": " + cause.getMessage();
    }
}

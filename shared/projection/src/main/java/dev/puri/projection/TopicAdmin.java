package dev.puri.projection;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
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

/** An admin client that reads the offsets and settings of one topic. Thread-safe. */
public final class TopicAdmin implements AutoCloseable {
    private final String topic;
    private final Admin admin;

    /** The brokers did not return the requested data, or the topic does not exist. The message says why. */
    public static final class TopicUnavailableException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        TopicUnavailableException(String message, Throwable cause) {
            super(message, cause);
        }

        /** Returns whether this principal is not authorized for the request, so that a retry is useless. */
        public boolean isForbidden() {
            return getCause() instanceof ExecutionException failure
                    && failure.getCause() instanceof AuthorizationException;
        }
    }

    /**
     * Creates the admin client; sends no request.
     *
     * @throws org.apache.kafka.common.KafkaException if no client can be created with the properties
     */
    public TopicAdmin(Map<String, String> kafka, String bootstrapServers, String topic) {
        this(AdminClients.create(kafka, bootstrapServers), topic);
    }

    /**
     * @param admin closed by {@link #close}
     */
    public TopicAdmin(Admin admin, String topic) {
        this.admin = admin;
        this.topic = topic;
    }

    /**
     * Returns the topic's id and its end offsets.
     *
     * @throws TopicUnavailableException if the topic does not exist or no broker responds in time
     */
    public TopicEnds endOffsets(InstantSource clock) {
        // Taken before the request: the response may lack records that are written meanwhile.
        ObservationTime at = ObservationTime.now(clock);
        TopicDescription description = await(Objects.requireNonNull(
                admin.describeTopics(List.of(topic)).topicNameValues().get(topic)));
        List<Integer> partitions = description.partitions().stream()
                .map(TopicPartitionInfo::partition)
                .toList();
        return new TopicEnds(description.topicId(), new EndOffsets(offsets(partitions, OffsetSpec.latest()), at));
    }

    /**
     * Returns the beginning offset of each partition.
     *
     * @throws TopicUnavailableException if no broker responds in time
     */
    public Map<Integer, Long> beginningOffsets(TopicEnds ends) {
        return offsets(ends.byPartition().keySet(), OffsetSpec.earliest());
    }

    /**
     * Returns how long the brokers keep tombstones ({@code delete.retention.ms}); zero if they do not report it.
     *
     * @throws TopicUnavailableException if no broker responds in time
     */
    public Duration tombstoneRetention() {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        Config config = await(Objects.requireNonNull(
                admin.describeConfigs(List.of(resource)).values().get(resource)));
        ConfigEntry entry = config.get(TopicConfig.DELETE_RETENTION_MS_CONFIG);
        return Duration.ofMillis(entry == null || entry.value() == null ? 0 : Long.parseLong(entry.value()));
    }

    /**
     * Requests the high watermarks of partitions: the end offsets that include uncommitted records.
     *
     * @return completes on the client's thread; exceptionally if no broker responds in time. The caller may complete it
     *     earlier
     */
    public CompletableFuture<Map<Integer, Long>> requestHighWatermarks(Collection<Integer> partitions) {
        // Only the admin client can complete the future of a KafkaFuture, so a caller could not set a timeout.
        CompletableFuture<Map<Integer, Long>> highWatermarks = new CompletableFuture<>();
        request(partitions, OffsetSpec.latest(), IsolationLevel.READ_UNCOMMITTED)
                .whenComplete((infos, failure) -> {
                    if (failure == null) {
                        highWatermarks.complete(byPartition(infos));
                    } else {
                        highWatermarks.completeExceptionally(failure);
                    }
                });
        return highWatermarks;
    }

    /**
     * Returns the high watermarks of partitions: the end offsets that include uncommitted records.
     *
     * @throws TopicUnavailableException if no broker responds in time
     */
    public Map<Integer, Long> highWatermarks(Collection<Integer> partitions) {
        return byPartition(await(request(partitions, OffsetSpec.latest(), IsolationLevel.READ_UNCOMMITTED)));
    }

    private Map<Integer, Long> offsets(Collection<Integer> partitions, OffsetSpec spec) {
        return byPartition(await(request(partitions, spec, IsolationLevel.READ_COMMITTED)));
    }

    private KafkaFuture<Map<TopicPartition, ListOffsetsResult.ListOffsetsResultInfo>> request(
            Collection<Integer> partitions, OffsetSpec spec, IsolationLevel isolation) {
        Map<TopicPartition, OffsetSpec> specs = new HashMap<>();
        partitions.forEach(partition -> specs.put(new TopicPartition(topic, partition), spec));
        return admin.listOffsets(specs, new ListOffsetsOptions(isolation)).all();
    }

    private static Map<Integer, Long> byPartition(Map<TopicPartition, ListOffsetsResult.ListOffsetsResultInfo> infos) {
        Map<Integer, Long> offsets = new TreeMap<>();
        infos.forEach((partition, info) -> offsets.put(partition.partition(), info.offset()));
        return offsets;
    }

    /** Fails pending requests within a second. May be called by any thread, and more than once. */
    @Override
    public void close() {
        admin.close(Duration.ofSeconds(1));
    }

    private <T> T await(KafkaFuture<T> response) {
        try {
            return response.get(2 * AdminClients.REQUEST_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new TopicUnavailableException("interrupted", e);
        } catch (TimeoutException e) {
            throw new TopicUnavailableException("no broker answers", e);
        } catch (ExecutionException e) {
            throw new TopicUnavailableException(reason(Objects.requireNonNullElse(e.getCause(), e)), e);
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

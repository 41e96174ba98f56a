package dev.puri.testkit;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeConfigsResult;
import org.apache.kafka.clients.admin.DescribeTopicsResult;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.internals.KafkaFutureImpl;
import org.jspecify.annotations.Nullable;

/**
 * The ids, offsets and tombstone retention of topics without a broker, and an admin client that reads them. Unit tests
 * use it for classes that follow topics. A partition has no open transactions, unless {@link #setEnd(TopicPartition,
 * long, long)} sets a last stable offset. Thread-safe.
 */
public final class InMemoryTopics {
    private final Map<String, Topic> topics = new HashMap<>();
    private Duration tombstoneRetention = Duration.ofDays(7);
    private boolean isAway;
    private boolean isSilent;

    /** The requests that got no response. */
    private final List<KafkaFutureImpl<?>> pending = new ArrayList<>();

    private record Topic(Uuid id, long[] begins, long[] lastStable, long[] ends) {}

    /** Creates a topic without records. A topic with this name is deleted. */
    public synchronized void create(String topic, int partitions) {
        topics.put(
                topic, new Topic(Uuid.randomUuid(), new long[partitions], new long[partitions], new long[partitions]));
    }

    /** Adds partitions without records to a topic. */
    public synchronized void addPartitions(String name, int count) {
        Topic topic = topic(name);
        int partitions = topic.ends.length + count;
        topics.put(
                name,
                new Topic(
                        topic.id,
                        Arrays.copyOf(topic.begins, partitions),
                        Arrays.copyOf(topic.lastStable, partitions),
                        Arrays.copyOf(topic.ends, partitions)));
    }

    /** Sets how long every topic keeps tombstones; at first 7 days. */
    public synchronized void setTombstoneRetention(Duration newValue) {
        tombstoneRetention = newValue;
    }

    /** Sets whether every request fails, as if no broker were reachable. */
    public synchronized void setAway(boolean newValue) {
        isAway = newValue;
    }

    /** Returns whether every request fails. */
    public synchronized boolean isAway() {
        return isAway;
    }

    /** Sets whether requests get no response, as if the connections to the brokers were interrupted. */
    public synchronized void setSilent(boolean newValue) {
        isSilent = newValue;
    }

    public synchronized void setBegin(TopicPartition partition, long offset) {
        topic(partition.topic()).begins[partition.partition()] = offset;
    }

    /** Sets the end offset of a partition without open transactions. */
    public void setEnd(TopicPartition partition, long offset) {
        setEnd(partition, offset, offset);
    }

    /**
     * Sets the offsets after the last record of a partition.
     *
     * @param lastStable the end offset of read-committed consumers: the begin of the first open transaction
     */
    public synchronized void setEnd(TopicPartition partition, long lastStable, long offset) {
        Topic topic = topic(partition.topic());
        topic.lastStable[partition.partition()] = lastStable;
        topic.ends[partition.partition()] = offset;
    }

    /** Returns the beginning offset. */
    public synchronized long begin(TopicPartition partition) {
        return topic(partition.topic()).begins[partition.partition()];
    }

    private Topic topic(String name) {
        return Objects.requireNonNull(topics.get(name), name);
    }

    /**
     * Returns an admin client that describes topics, lists offsets and describes configurations; it does nothing else.
     */
    public Admin admin() {
        return (Admin) Proxy.newProxyInstance(
                Admin.class.getClassLoader(),
                new Class<?>[] {Admin.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "describeTopics" -> describeTopics((Collection<?>) arguments[0]);
                    case "listOffsets" ->
                        listOffsets(
                                (Map<?, ?>) arguments[0],
                                arguments.length == 1 ? new ListOffsetsOptions() : (ListOffsetsOptions) arguments[1]);
                    case "describeConfigs" -> describeConfigs((Collection<?>) arguments[0]);
                    case "close" -> failPending();
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }

    private synchronized @Nullable Object failPending() {
        pending.forEach(future -> future.completeExceptionally(new TimeoutException("the client was closed")));
        pending.clear();
        return null;
    }

    private synchronized DescribeTopicsResult describeTopics(Collection<?> names) {
        List<String> requested = names.stream().map(String.class::cast).toList();
        return new DescribeTopicsResult(null, responses(requested, Function.identity(), this::description)) {};
    }

    private TopicDescription description(String name) {
        Topic topic = topic(name);
        List<TopicPartitionInfo> partitions = IntStream.range(0, topic.ends.length)
                .mapToObj(partition -> new TopicPartitionInfo(partition, null, List.of(), List.of()))
                .toList();
        return new TopicDescription(name, false, partitions, null, topic.id);
    }

    private synchronized ListOffsetsResult listOffsets(Map<?, ?> specs, ListOffsetsOptions options) {
        List<TopicPartition> requested =
                specs.keySet().stream().map(TopicPartition.class::cast).toList();
        return new ListOffsetsResult(responses(requested, TopicPartition::topic, partition -> {
            Topic topic = topic(partition.topic());
            boolean isCommitted = options.isolationLevel() == IsolationLevel.READ_COMMITTED;
            long[] ends = isCommitted ? topic.lastStable : topic.ends;
            long[] offsets = specs.get(partition) instanceof OffsetSpec.EarliestSpec ? topic.begins : ends;
            return new ListOffsetsResultInfo(offsets[partition.partition()], -1, Optional.empty());
        }));
    }

    private synchronized DescribeConfigsResult describeConfigs(Collection<?> resources) {
        List<ConfigResource> requested =
                resources.stream().map(ConfigResource.class::cast).toList();
        Config config = new Config(
                List.of(new ConfigEntry("delete.retention.ms", Long.toString(tombstoneRetention.toMillis()))));
        return new DescribeConfigsResult(responses(requested, ConfigResource::name, resource -> config)) {};
    }

    private <K, V> Map<K, KafkaFuture<V>> responses(
            Collection<K> keys, Function<K, String> topic, Function<K, V> response) {
        return keys.stream().collect(Collectors.toMap(Function.identity(), key -> {
            KafkaFutureImpl<V> future = new KafkaFutureImpl<>();
            if (isSilent) {
                pending.add(future);
                return future;
            }
            if (isAway) {
                future.completeExceptionally(new TimeoutException("no broker"));
            } else if (!topics.containsKey(topic.apply(key))) {
                future.completeExceptionally(new UnknownTopicOrPartitionException("no topic"));
            } else {
                future.complete(response.apply(key));
            }
            return future;
        }));
    }
}

package dev.puri.benchmarks.environment;

import dev.puri.embedded.EmbeddedBroker;
import dev.puri.registry.RegistryTopics;
import dev.puri.schemas.log.Topics;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * A new broker in this process. It has the topics of the registry, no records, and a folder that is deleted when the
 * broker closes. Each round uses a new broker, so that no round inherits records or caches from an earlier one.
 */
public final class FreshBroker implements AutoCloseable {
    /** Partitions of each topic. */
    public static final int PARTITIONS = RegistryTopics.DEFAULT_PARTITIONS;

    private static final Duration SAMPLE_TIMEOUT = Duration.ofSeconds(30);

    private final TemporaryFolder folder = TemporaryFolder.create();
    private final EmbeddedBroker broker = EmbeddedBroker.start(folder.path().resolve("broker"), 0);
    private final Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()));
    private int directoryCount;

    /** Writes the initial records of a broker. */
    public interface Filler {
        /** Writes to the broker's topics. */
        void fill(FreshBroker broker) throws Exception;
    }

    /** Starts a broker. */
    public FreshBroker() {
        RegistryTopics.create(admin, PARTITIONS, (short) 1, Set.of());
    }

    /** Starts a broker and fills it; closes it if filling fails. */
    public static FreshBroker filled(Filler filler) throws Exception {
        FreshBroker broker = new FreshBroker();
        try {
            filler.fill(broker);
            return broker;
        } catch (Exception e) {
            broker.close();
            throw e;
        }
    }

    /** Returns the address of the broker. */
    public String bootstrapServers() {
        return broker.bootstrapServers();
    }

    /** Returns the path of a folder with this name in the broker's folder; the folder may not exist. */
    public Path directory(String name) {
        return folder.path().resolve(name);
    }

    /** Returns the path of an unused folder whose name has this prefix. */
    public Path newDirectory(String name) {
        return directory(name + directoryCount++);
    }

    /** Creates a topic. */
    public void createTopic(String name, Map<String, String> configs) throws Exception {
        admin.createTopics(List.of(new NewTopic(name, PARTITIONS, (short) 1).configs(configs)))
                .all()
                .get();
    }

    /** Returns a consumer at the beginning of a topic, which reads committed records only. */
    public KafkaConsumer<byte[], byte[]> consumer(String topic) {
        Map<String, Object> config = Map.of(
                "bootstrap.servers", bootstrapServers(), "isolation.level", "read_committed", "max.poll.records", 2000);
        KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        consumer.assign(IntStream.range(0, PARTITIONS)
                .mapToObj(partition -> new TopicPartition(topic, partition))
                .toList());
        consumer.seekToBeginning(consumer.assignment());
        consumer.assignment().forEach(consumer::position);
        return consumer;
    }

    /**
     * Returns records of a topic: at least this number, or all if the topic has fewer. Markers and tombstones do not
     * count.
     *
     * @throws IllegalStateException if the topic has no records
     */
    public List<ConsumerRecord<byte[], byte[]>> sample(String topic, int minSize) throws IOException {
        List<ConsumerRecord<byte[], byte[]>> sample = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(topic)) {
            Await.until("a sample of " + topic, SAMPLE_TIMEOUT, () -> {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                    if (record.value() != null && record.key() != null) {
                        sample.add(record);
                    }
                }
                return sample.size() >= minSize || isAtEnd(consumer);
            });
        }
        if (sample.isEmpty()) {
            throw new IllegalStateException("there are no records in " + topic);
        }
        return sample;
    }

    private static boolean isAtEnd(KafkaConsumer<byte[], byte[]> consumer) {
        return consumer.endOffsets(consumer.assignment()).entrySet().stream()
                .allMatch(end -> consumer.position(end.getKey()) >= end.getValue());
    }

    /** Returns the id of the identities topic. */
    public Uuid identitiesId() throws Exception {
        return Objects.requireNonNull(admin.describeTopics(List.of(Topics.IDENTITIES))
                        .allTopicNames()
                        .get()
                        .get(Topics.IDENTITIES))
                .topicId();
    }

    /** Returns the end offset of each partition of the identities topic. */
    public Map<Integer, Long> identitiesEndOffsets() {
        Map<Integer, Long> ends = new TreeMap<>();
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(Topics.IDENTITIES)) {
            consumer.endOffsets(consumer.assignment())
                    .forEach((partition, end) -> ends.put(partition.partition(), end));
        }
        return ends;
    }

    /** Returns the size of the logs of all topics in bytes, internal topics of the broker included. */
    public long logBytes() throws Exception {
        return logBytesByTopic().values().stream().mapToLong(bytes -> bytes).sum();
    }

    /** Returns the size of the logs of each topic in bytes, by name, internal topics of the broker included. */
    public Map<String, Long> logBytesByTopic() throws Exception {
        Map<String, Long> bytesByTopic = new TreeMap<>();
        admin
                .describeLogDirs(admin.describeCluster().nodes().get().stream()
                        .map(node -> node.id())
                        .toList())
                .allDescriptions()
                .get()
                .values()
                .stream()
                .flatMap(dirs -> dirs.values().stream())
                .flatMap(dir -> dir.replicaInfos().entrySet().stream())
                .forEach(replica -> bytesByTopic.merge(
                        replica.getKey().topic(), replica.getValue().size(), Long::sum));
        return bytesByTopic;
    }

    /** Waits until a topic has a record. */
    public void awaitRecord(String topic, Duration timeout) throws IOException {
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(topic)) {
            Await.until(
                    "a record in " + topic,
                    timeout,
                    () -> consumer.endOffsets(consumer.assignment()).values().stream()
                            .anyMatch(end -> end > 0));
        }
    }

    /**
     * Removes the members of a consumer group, all of which have stopped: a static member would otherwise stay for its
     * session timeout.
     */
    public void removeMembers(String groupId, Duration timeout) throws IOException {
        Await.until("no members of the group " + groupId, timeout, Duration.ofMillis(100), () -> {
            try {
                boolean isEmpty = admin.describeConsumerGroups(List.of(groupId)).all().get().values().stream()
                        .allMatch(group -> group.members().isEmpty());
                if (!isEmpty) {
                    admin.removeMembersFromConsumerGroup(groupId, new RemoveMembersFromConsumerGroupOptions());
                }
                return isEmpty;
            } catch (ExecutionException e) {
                throw new IOException(e.getCause());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException(e);
            }
        });
    }

    @Override
    public void close() {
        admin.close(Duration.ofSeconds(5));
        broker.close();
        folder.close();
    }
}

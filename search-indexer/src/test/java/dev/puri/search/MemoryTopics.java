package dev.puri.search;

import dev.puri.schemas.avro.Document;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.DocumentAvro;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.serde.InMemorySchemaRegistry;
import dev.puri.schemas.serde.RecordWriter;
import dev.puri.search.index.EntryKind;
import dev.puri.tail.TopicAdmin;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeConfigsResult;
import org.apache.kafka.clients.admin.DescribeTopicsResult;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.internals.KafkaFutureImpl;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;

/** The topics of the indexer without a broker: {@value #PARTITIONS} partitions each, in memory. Thread-safe. */
final class MemoryTopics {
    static final int PARTITIONS = 2;
    private static final Duration TOMBSTONE_RETENTION = Duration.ofDays(7);
    private static final long POLL_NANOS = Duration.ofMillis(2).toNanos();
    private static final RecordWriter<IdentityRow> ROWS = RecordWriter.of(IdentityRow.class);
    private static final RecordWriter<Document> DOCUMENTS = RecordWriter.of(Document.class);

    private final InMemorySchemaRegistry registry = new InMemorySchemaRegistry();
    private final Map<TopicPartition, List<ConsumerRecord<byte[], byte[]>>> partitions = new HashMap<>();
    private final Map<TopicPartition, Long> beginnings = new HashMap<>();
    private Map<String, Uuid> ids = Map.of();
    private boolean isAway;
    private int polls;

    MemoryTopics() {
        createAgain();
    }

    InMemorySchemaRegistry registry() {
        return registry;
    }

    /** Makes every request fail, or not. */
    synchronized void setAway(boolean newValue) {
        isAway = newValue;
    }

    /** Deletes both topics and creates them again, without records. */
    synchronized void createAgain() {
        Map<String, Uuid> newIds = new HashMap<>();
        for (EntryKind kind : EntryKind.values()) {
            newIds.put(kind.topic(), Uuid.randomUuid());
            for (int partition = 0; partition < PARTITIONS; partition++) {
                partitions.put(new TopicPartition(kind.topic(), partition), new ArrayList<>());
                beginnings.put(new TopicPartition(kind.topic(), partition), 0L);
            }
        }
        ids = newIds;
    }

    /** Writes a row and its document. */
    synchronized void write(String puri, int number, String title) {
        Row row = Samples.active(number, "br-1");
        append(EntryKind.IDENTITY, puri, ROWS.encode(registry.register("rows", ROWS.schema()), RowAvro.toAvro(row)));
        append(
                EntryKind.DOCUMENT,
                puri,
                DOCUMENTS.encode(
                        registry.register("documents", DOCUMENTS.schema()),
                        DocumentAvro.toAvro(Samples.document(row, title))));
    }

    /** Deletes all records, as a retention policy does. Later records continue at the same offsets. */
    synchronized void deleteRecords() {
        partitions.forEach((partition, records) -> beginnings.put(partition, end(partition)));
    }

    /** Returns how often a consumer was polled. */
    synchronized int polls() {
        return polls;
    }

    private void append(EntryKind kind, String puri, byte @Nullable [] value) {
        TopicPartition partition = new TopicPartition(kind.topic(), Math.floorMod(puri.hashCode(), PARTITIONS));
        records(partition)
                .add(new ConsumerRecord<>(
                        partition.topic(),
                        partition.partition(),
                        end(partition),
                        Samples.TIME.toEpochMilli(),
                        TimestampType.CREATE_TIME,
                        0,
                        0,
                        Puri.parse(puri).toBytes(),
                        value,
                        new RecordHeaders(),
                        Optional.empty()));
    }

    private List<ConsumerRecord<byte[], byte[]>> records(TopicPartition partition) {
        return Objects.requireNonNull(partitions.get(partition));
    }

    private long end(TopicPartition partition) {
        return records(partition).size();
    }

    private void requireBrokers() {
        if (isAway) {
            throw new TimeoutException("no broker");
        }
    }

    Consumer<byte[], byte[]> consumer() {
        return new MockConsumer<>("none") {
            @Override
            public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
                if (!addRecords(this)) {
                    LockSupport.parkNanos(Math.min(timeout.toNanos(), POLL_NANOS));
                }
                return super.poll(Duration.ZERO);
            }
        };
    }

    /** Gives a consumer the records after its positions. */
    private synchronized boolean addRecords(MockConsumer<byte[], byte[]> consumer) {
        polls++;
        requireBrokers();
        boolean hasAdded = false;
        for (TopicPartition partition : consumer.assignment()) {
            long position = consumer.position(partition);
            if (position < Objects.requireNonNull(beginnings.get(partition))) {
                throw new OffsetOutOfRangeException(Map.of(partition, position));
            }
            for (long offset = position; offset < end(partition); offset++) {
                consumer.addRecord(records(partition).get((int) offset));
                hasAdded = true;
            }
        }
        return hasAdded;
    }

    /** Returns an admin client that knows the offsets and the ids of the topics. */
    TopicAdmin admin(String topic) {
        return new TopicAdmin(
                (Admin) Proxy.newProxyInstance(
                        Admin.class.getClassLoader(), new Class<?>[] {Admin.class}, (proxy, method, arguments) -> {
                            return switch (method.getName()) {
                                case "describeTopics" -> describeTopics();
                                case "listOffsets" -> listOffsets((Map<?, ?>) arguments[0]);
                                case "describeConfigs" -> describeConfigs((Collection<?>) arguments[0]);
                                case "close" -> null;
                                default -> throw new UnsupportedOperationException(method.getName());
                            };
                        }),
                topic);
    }

    private synchronized DescribeTopicsResult describeTopics() {
        List<TopicPartitionInfo> infos = IntStream.range(0, PARTITIONS)
                .mapToObj(partition -> new TopicPartitionInfo(partition, null, List.of(), List.of()))
                .toList();
        return new DescribeTopicsResult(
                null, responses(ids.keySet(), topic -> new TopicDescription(topic, false, infos, null, ids.get(topic)))) {};
    }

    private synchronized ListOffsetsResult listOffsets(Map<?, ?> specs) {
        Map<TopicPartition, OffsetSpec> requested = new HashMap<>();
        specs.forEach((partition, spec) -> requested.put((TopicPartition) partition, (OffsetSpec) spec));
        return new ListOffsetsResult(responses(requested.keySet(), partition -> {
            boolean isBeginning = requested.get(partition) instanceof OffsetSpec.EarliestSpec;
            long offset = isBeginning ? Objects.requireNonNull(beginnings.get(partition)) : end(partition);
            return new ListOffsetsResultInfo(offset, -1, Optional.empty());
        }));
    }

    private synchronized DescribeConfigsResult describeConfigs(Collection<?> resources) {
        List<ConfigResource> requested =
                resources.stream().map(resource -> (ConfigResource) resource).toList();
        return new DescribeConfigsResult(responses(
                requested,
                resource -> new Config(List.of(new ConfigEntry(
                        "delete.retention.ms", Long.toString(TOMBSTONE_RETENTION.toMillis())))))) {};
    }

    private <K, V> Map<K, KafkaFuture<V>> responses(Collection<K> keys, Function<K, V> response) {
        return keys.stream().collect(Collectors.toMap(Function.identity(), key -> {
            KafkaFutureImpl<V> future = new KafkaFutureImpl<>();
            if (isAway) {
                future.completeExceptionally(new TimeoutException("no broker"));
            } else {
                future.complete(response.apply(key));
            }
            return future;
        }));
    }
}

package dev.puri.registry;

import dev.puri.schemas.avro.CollectionsEntry;
import dev.puri.schemas.avro.Document;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.RecordReader;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.schemas.serde.UnknownSchemaException;
import dev.puri.schemas.serde.WireFormat;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import org.apache.avro.Schema;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * Checks that the schema registry has the schemas with which the records of the topology's topics were written. Each
 * record contains the id of its schema. A schema registry that has lost its storage assigns the ids again, to other
 * schemas, and readers then skip records or read them wrongly.
 *
 * <p>The check reads the first and the last records of each partition: the first ones have the oldest schemas, the last
 * ones those in use. If the last records have no schema id, because the partition got only digests lately, it reads
 * more of them. Without the schema of a declaration the topology would skip it, and a closed namespace would be open. A
 * declaration that was replaced or removed is not checked, so that one with a wrong id can be repaired.
 *
 * <p>The check covers the topics that the topology writes and the declarations, which operators write. It does not
 * cover events, because any service could write an unknown id to them.
 */
public final class StoredSchemas {
    private static final Map<String, Schema> SCHEMAS = Map.of(
            Topics.COLLECTIONS, CollectionsEntry.getClassSchema(),
            Topics.IDENTITIES, IdentityRow.getClassSchema(),
            Topics.DOCUMENTS, Document.getClassSchema(),
            Topics.REJECTIONS, Rejection.getClassSchema());

    /** How many offsets are read at each end of a partition. Some of them are markers of transactions. */
    private static final int SAMPLED_OFFSETS = 20;

    /**
     * How many offsets are read at the end of a partition whose last {@value #SAMPLED_OFFSETS} offsets have no schema
     * id. A digest and the marker of its transaction are published every minute and are compacted after a day, so a
     * partition without events has some 2,900 of them.
     */
    private static final int MAX_SAMPLED_OFFSETS = 4_000;

    private static final Duration POLL_TIMEOUT = Duration.ofMillis(100);

    /** Bounds each request and each read; if a read takes longer, the check covers the records that were read. */
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private final Consumer<byte[], byte[]> consumer;
    private final BooleanSupplier isStopped;

    /** A record for each topic and schema id. */
    private final Map<String, Map<Integer, ConsumerRecord<byte[], byte[]>>> sample = new TreeMap<>();

    /** The last record that was read of each declaration, by its key. */
    private final Map<ByteBuffer, ConsumerRecord<byte[], byte[]>> declarations = new LinkedHashMap<>();

    /** The partitions of the sampled records. */
    private final Set<TopicPartition> sampledPartitions = new HashSet<>();

    private StoredSchemas(Consumer<byte[], byte[]> consumer, BooleanSupplier isStopped) {
        this.consumer = consumer;
        this.isStopped = isStopped;
    }

    /**
     * Checks the schema ids of the topics that exist.
     *
     * @param consumerConfigs configuration of a Kafka client
     * @param isStopped whether the check must end; asked between polls
     * @return a sentence for each topic and wrong id, with the remedy; empty if there are none
     * @throws KafkaException if the cluster or the schema registry is unreachable, or the check was
     *     stopped
     */
    public static List<String> check(
            Map<String, Object> consumerConfigs, SchemaRegistry registry, BooleanSupplier isStopped) {
        Map<String, Object> properties = new LinkedHashMap<>(consumerConfigs);
        properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        properties.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
        properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        properties.put(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, 1 << 16);
        properties.putIfAbsent(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, (int) TIMEOUT.toMillis());
        try (Consumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            return check(consumer, registry, isStopped);
        }
    }

    static List<String> check(Consumer<byte[], byte[]> consumer, SchemaRegistry registry, BooleanSupplier isStopped) {
        StoredSchemas schemas = new StoredSchemas(consumer, isStopped);
        schemas.readBothEnds();
        List<String> mistakes = new ArrayList<>();
        schemas.sample.forEach((topic, recordsById) -> recordsById.forEach((id, record) -> {
            String mistake = mistake(topic, id, record, registry);
            if (mistake != null) {
                mistakes.add(topic + " has records with the schema id " + id + " (offset " + record.offset()
                        + " of partition " + record.partition() + "), " + mistake
                        + ": restore the schema registry from its backup, see docs/disasters.md");
            }
        }));
        return mistakes;
    }

    private static @Nullable String mistake(
            String topic, int id, ConsumerRecord<byte[], byte[]> record, SchemaRegistry registry) {
        Schema expected = SCHEMAS.getOrDefault(topic, IdentityRow.getClassSchema());
        Schema registered;
        try {
            registered = registry.byId(id);
        } catch (UnknownSchemaException e) {
            return "which the schema registry does not have";
        }
        if (!registered.getFullName().equals(expected.getFullName())) {
            return "which in the schema registry is " + registered.getFullName() + ", not " + expected.getFullName();
        }
        try {
            Object ignored = RecordReader.of(expected).decode(record.value(), registered);
            return null;
        } catch (SerializationException e) {
            return "which in the schema registry is another version of " + expected.getFullName() + ": "
                    + e.getMessage();
        }
    }

    private void readBothEnds() {
        List<TopicPartition> partitions = new ArrayList<>();
        for (String topic : new TreeSet<>(SCHEMAS.keySet())) {
            List<PartitionInfo> found = consumer.partitionsFor(topic);
            if (found != null) {
                found.forEach(info -> partitions.add(new TopicPartition(topic, info.partition())));
            }
        }
        Map<TopicPartition, Long> begins = consumer.beginningOffsets(partitions);
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
        Map<TopicPartition, Range> last = new HashMap<>();
        Map<TopicPartition, Range> earlier = new HashMap<>();
        Map<TopicPartition, Range> first = new HashMap<>();
        begins.forEach((partition, begin) -> {
            long end = ends.getOrDefault(partition, begin);
            long lastBegin = Math.max(begin, end - SAMPLED_OFFSETS);
            last.put(partition, new Range(lastBegin, end));
            earlier.put(partition, new Range(Math.max(begin, end - MAX_SAMPLED_OFFSETS), lastBegin));
            first.put(partition, new Range(begin, Math.min(end, begin + SAMPLED_OFFSETS)));
        });
        read(last);
        earlier.keySet().removeAll(sampledPartitions);
        read(earlier);
        read(first);
        declarations.values().forEach(this::addToSample);
    }

    /** Offsets of a partition, {@code end} excluded. */
    private record Range(long begin, long end) {}

    private void read(Map<TopicPartition, Range> ranges) {
        Map<TopicPartition, Range> unread = new HashMap<>(ranges);
        unread.values().removeIf(range -> range.begin() >= range.end());
        consumer.assign(unread.keySet());
        unread.forEach((partition, range) -> consumer.seek(partition, range.begin()));
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (!unread.isEmpty() && System.nanoTime() < deadline) {
            if (isStopped.getAsBoolean()) {
                throw new KafkaException("the check of the stored schema ids was stopped");
            }
            consumer.poll(POLL_TIMEOUT).forEach(this::add);
            if (unread.entrySet()
                    .removeIf(each ->
                            consumer.position(each.getKey()) >= each.getValue().end())) {
                consumer.assign(unread.keySet());
            }
        }
    }

    private void add(ConsumerRecord<byte[], byte[]> record) {
        if (!record.topic().equals(Topics.COLLECTIONS)) {
            addToSample(record);
        } else if (record.key() != null) {
            declarations.merge(
                    ByteBuffer.wrap(record.key()), record, (one, other) -> one.offset() > other.offset() ? one : other);
        }
    }

    private void addToSample(ConsumerRecord<byte[], byte[]> record) {
        Integer id = idOf(record.value());
        if (id != null) {
            sample.computeIfAbsent(record.topic(), none -> new TreeMap<>()).putIfAbsent(id, record);
            sampledPartitions.add(new TopicPartition(record.topic(), record.partition()));
        }
    }

    /** Returns the schema id of a value; null for a tombstone and for bytes without an id. */
    private static @Nullable Integer idOf(byte @Nullable [] value) {
        try {
            return value == null ? null : WireFormat.schemaId(value);
        } catch (SerializationException e) {
            return null;
        }
    }
}

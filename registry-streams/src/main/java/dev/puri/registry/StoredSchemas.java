package dev.puri.registry;

import dev.puri.schemas.avro.Document;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.RecordReader;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.schemas.serde.UnknownSchemaException;
import dev.puri.schemas.serde.WireFormat;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.avro.Schema;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
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
 * ones those in use. It covers only topics that the topology alone writes, because any service could write an unknown id
 * to the others.
 */
public final class StoredSchemas {
    private static final Map<String, Schema> SCHEMAS = Map.of(
            Topics.IDENTITIES, IdentityRow.getClassSchema(),
            Topics.DOCUMENTS, Document.getClassSchema(),
            Topics.REJECTIONS, Rejection.getClassSchema());

    /** How many offsets are read at each end of a partition. Some of them are markers of transactions. */
    private static final int SAMPLED_OFFSETS = 20;

    private static final Duration POLL_TIMEOUT = Duration.ofMillis(100);

    /** Bounds the check if a partition has no leader; it then covers the records that were read. */
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private StoredSchemas() {}

    /**
     * Checks the schema ids of the topics that exist.
     *
     * @param consumerConfigs configuration of a Kafka client
     * @return a sentence for each topic and wrong id, with the remedy; empty if there are none
     * @throws org.apache.kafka.common.KafkaException if the cluster or the schema registry is unreachable
     */
    public static List<String> check(Map<String, Object> consumerConfigs, SchemaRegistry registry) {
        List<String> mistakes = new ArrayList<>();
        sample(consumerConfigs)
                .forEach((topic, recordsById) -> recordsById.forEach((id, record) -> {
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

    /** Returns a record for each topic and schema id. */
    private static Map<String, Map<Integer, ConsumerRecord<byte[], byte[]>>> sample(Map<String, Object> configs) {
        Map<String, Object> properties = new LinkedHashMap<>(configs);
        properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        properties.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
        properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        properties.put(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, 1 << 16);
        Map<String, Map<Integer, ConsumerRecord<byte[], byte[]>>> sample = new TreeMap<>();
        try (Consumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = new ArrayList<>();
            for (String topic : new TreeSet<>(SCHEMAS.keySet())) {
                List<PartitionInfo> found = consumer.partitionsFor(topic);
                if (found != null) {
                    found.forEach(info -> partitions.add(new TopicPartition(topic, info.partition())));
                }
            }
            Map<TopicPartition, Long> begins = consumer.beginningOffsets(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            Map<TopicPartition, Long> lastBegins = new LinkedHashMap<>();
            Map<TopicPartition, Long> firstEnds = new LinkedHashMap<>();
            begins.forEach((partition, begin) -> {
                long end = ends.getOrDefault(partition, begin);
                lastBegins.put(partition, Math.max(begin, end - SAMPLED_OFFSETS));
                firstEnds.put(partition, Math.min(end, begin + SAMPLED_OFFSETS));
            });
            read(consumer, lastBegins, ends, sample);
            read(consumer, begins, firstEnds, sample);
        }
        return sample;
    }

    private static void read(
            Consumer<byte[], byte[]> consumer,
            Map<TopicPartition, Long> begins,
            Map<TopicPartition, Long> ends,
            Map<String, Map<Integer, ConsumerRecord<byte[], byte[]>>> sample) {
        Set<TopicPartition> unread = new HashSet<>();
        begins.forEach((partition, begin) -> {
            if (begin < ends.getOrDefault(partition, begin)) {
                unread.add(partition);
            }
        });
        consumer.assign(unread);
        unread.forEach(partition -> consumer.seek(partition, begins.getOrDefault(partition, 0L)));
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (!unread.isEmpty() && System.nanoTime() < deadline) {
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL_TIMEOUT)) {
                Integer id = idOf(record.value());
                if (id != null) {
                    sample.computeIfAbsent(record.topic(), none -> new TreeMap<>())
                            .putIfAbsent(id, record);
                }
            }
            if (unread.removeIf(partition -> consumer.position(partition) >= ends.getOrDefault(partition, 0L))) {
                consumer.assign(unread);
            }
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

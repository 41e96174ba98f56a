package dev.puri.cli.verify;

import dev.puri.projection.RecordKey;
import dev.puri.registry.RegistrarChangelogs;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/** Reads the topics of one registry, and creates the checks that compare them. Not thread-safe. */
public final class Registry implements AutoCloseable {
    /** The {@link Check#part} of the checks that compare topics with the registrar's changelogs. */
    public static final String REGISTRAR = "registrar";

    private final Map<String, Object> properties;
    private final String registrationsTopic;
    private final String textsTopic;
    private final String parkedTopic;
    private final TopicReader reader;
    private final RecordDecoder decoder;
    private final int partitions;

    /**
     * @param properties of Kafka clients and of the schema registry
     * @param applicationId application id of the topology, the prefix of its changelogs
     * @param timeout maximum time without progress
     * @throws VerifyException if the registry has no events topic
     */
    public Registry(Map<String, Object> properties, String applicationId, Duration timeout, Pacer pacer) {
        this.properties = Map.copyOf(properties);
        registrationsTopic = RegistrarChangelogs.registrationsTopic(applicationId);
        textsTopic = RegistrarChangelogs.textsTopic(applicationId);
        parkedTopic = RegistrarChangelogs.parkedTopic(applicationId);
        reader = new TopicReader(
                consumer(properties, "read_committed"), consumer(properties, "read_uncommitted"), timeout, pacer);
        boolean isOpen = false;
        try {
            decoder = new RecordDecoder(ConfluentSchemaRegistry.create(properties));
            partitions = reader.partitionCount(Topics.EVENTS);
            if (partitions == 0) {
                throw new VerifyException("the topic " + Topics.EVENTS + " does not exist");
            }
            isOpen = true;
        } finally {
            if (!isOpen) {
                reader.close();
            }
        }
    }

    private static KafkaConsumer<byte[], byte[]> consumer(Map<String, Object> properties, String isolation) {
        Map<String, Object> config = new HashMap<>(properties);
        config.put("isolation.level", isolation);
        config.put("enable.auto.commit", "false");
        config.put("allow.auto.create.topics", "false");
        config.put("auto.offset.reset", "earliest");
        // At the end of a partition a fetch waits for new records. Until it ends, it delays the next requests to the
        // same broker, also those for the next partition.
        config.putIfAbsent("fetch.max.wait.ms", "10");
        return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** Returns the number of partitions of the events topic, which all other topics must have. */
    public int partitions() {
        return partitions;
    }

    /**
     * Returns the id of the Kafka cluster.
     *
     * @throws VerifyException if no broker answers
     */
    public String clusterId() {
        try (Admin admin = Admin.create(properties)) {
            return admin.describeCluster().clusterId().get();
        } catch (ExecutionException e) {
            throw new VerifyException("the id of the cluster cannot be read: " + e.getCause(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VerifyException("interrupted", e);
        }
    }

    TopicReader reader() {
        return reader;
    }

    RecordDecoder decoder() {
        return decoder;
    }

    String registrationsTopic() {
        return registrationsTopic;
    }

    String parkedTopic() {
        return parkedTopic;
    }

    /** Returns whether a service has ever published an event. */
    public boolean hasEvents() {
        return reader.topics().stream().filter(Topics::isEvents).anyMatch(topic -> {
            for (int partition = 0; partition < reader.partitionCount(topic); partition++) {
                if (reader.stableEnd(new TopicPartition(topic, partition)) > 0) {
                    return true;
                }
            }
            return false;
        });
    }

    /**
     * Creates the checks that compare the registrar's changelogs with topics. Each partition has one check with the
     * events topics, one with {@code puri.identities.v1} and one with {@code puri.documents.v1}.
     */
    public List<Check> registrarChecks() {
        List<Check> checks = new ArrayList<>();
        for (int partition = 0; partition < partitions; partition++) {
            checks.add(new EventComparison(this, partition));
        }
        for (int partition = 0; partition < partitions; partition++) {
            checks.add(new LogComparison(
                    this, new IdentityLogs(registrationsTopic, partition, decoder), KeyTable::maxSize));
        }
        for (int partition = 0; partition < partitions; partition++) {
            checks.add(new LogComparison(
                    this, new DocumentLogs(registrationsTopic, textsTopic, partition, decoder), KeyTable::maxSize));
        }
        return checks;
    }

    /** Creates the check of a copy of all rows. */
    public Check copyCheck(RowCopy copy) {
        return new CopyComparison(this, copy, KeyTable::maxSize);
    }

    /**
     * Reads the rows or documents of pURIs from their topic.
     *
     * @param topic {@code puri.identities.v1} or {@code puri.documents.v1}
     * @return by pURI the fields; nothing for a pURI that the topic does not have
     */
    public Map<String, Map<String, String>> values(String topic, Set<String> puris) {
        Map<String, Map<String, String>> values = new HashMap<>();
        int topicPartitions = reader.partitionCount(topic);
        for (int partition = 0; partition < topicPartitions; partition++) {
            reader.read(new TopicPartition(topic, partition), 0, record -> {
                Puri key = RecordKey.puriOrNull(record, topicPartitions);
                String puri = key == null ? "" : key.toString();
                if (!puris.contains(puri)) {
                    return;
                }
                Map<String, String> fields = record.value() == null ? null : fields(topic, record.value());
                if (fields == null) {
                    values.remove(puri);
                } else {
                    values.put(puri, fields);
                }
            });
        }
        return values;
    }

    private @Nullable Map<String, String> fields(String topic, byte[] value) {
        Object decoded = topic.equals(Topics.DOCUMENTS) ? decoder.document(value) : decoder.row(value);
        return switch (decoded) {
            case Row row -> Fields.withPosition(row);
            case Document document -> {
                Map<String, String> fields = Fields.of(document);
                fields.put(Fields.POSITION, document.position().toString());
                yield fields;
            }
            default -> null;
        };
    }

    /**
     * Checks that topics are complete: all partitions exist, and no record was deleted otherwise than by compaction.
     *
     * @throws VerifyException if a topic is incomplete, so that a comparison would report false differences
     */
    void requireComplete(List<TopicPartition> logs) {
        requirePartitions(logs);
        for (TopicPartition log : logs) {
            long beginning = reader.beginning(log);
            if (beginning > 0) {
                throw new VerifyException("the records of " + log + " before offset " + beginning
                        + " were deleted, so rows may be missing");
            }
        }
    }

    /**
     * Checks that topics exist and have as many partitions as the events topic.
     *
     * @throws VerifyException if a topic is missing or has another number of partitions
     */
    void requirePartitions(List<TopicPartition> logs) {
        for (TopicPartition log : logs) {
            int count = reader.partitionCount(log.topic());
            if (count == 0) {
                throw new VerifyException("the topic " + log.topic() + " does not exist");
            }
            if (count != partitions) {
                throw new VerifyException("the topic " + log.topic() + " has " + count + " partitions instead of "
                        + partitions + ", so rows may be missing");
            }
        }
    }

    /** Returns the approximate number of records in existing partitions; missing partitions are ignored. */
    long records(List<TopicPartition> logs) {
        return reader.size(logs.stream()
                .filter(log -> log.partition() < reader.partitionCount(log.topic()))
                .toList());
    }

    @Override
    public void close() {
        try {
            reader.close();
        } finally {
            decoder.close();
        }
    }
}

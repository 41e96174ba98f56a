package dev.puri.cli.verify;

import dev.puri.cli.io.LogReader;
import dev.puri.cli.io.RateLimiter;
import dev.puri.projection.RecordKey;
import dev.puri.projection.ResourceStack;
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
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** Reads the topics of one registry, and creates the checks that compare them. Not thread-safe. */
public final class RegistryReader implements AutoCloseable {
    /** The {@link Check#part} of the checks that compare topics with the registrar's changelogs. */
    public static final String REGISTRAR = "registrar";

    private static final Duration END_POLL_INTERVAL = Duration.ofMillis(20);

    private final String registrationsTopic;
    private final String textsTopic;
    private final String parkedTopic;
    private final Duration timeout;

    /** Closed in reverse order. */
    private final ResourceStack resources = new ResourceStack();

    private final Admin admin;
    private final LogReader reader;
    private final RecordDecoder decoder;
    private final int partitions;

    /**
     * @param properties of Kafka clients and of the schema registry
     * @param applicationId application id of the topology, the prefix of its changelogs
     * @param timeout maximum time without progress
     * @param limiter limits and counts the records that are read
     * @throws VerifyException if the registry has no events topic
     */
    public RegistryReader(Map<String, Object> properties, String applicationId, Duration timeout, RateLimiter limiter) {
        registrationsTopic = RegistrarChangelogs.registrationsTopic(applicationId);
        textsTopic = RegistrarChangelogs.textsTopic(applicationId);
        parkedTopic = RegistrarChangelogs.parkedTopic(applicationId);
        this.timeout = timeout;
        boolean isOpen = false;
        try {
            admin = resources.add(Admin.create(properties), Admin::close);
            reader = resources.add(LogReader.open(properties, timeout, limiter), LogReader::close);
            decoder =
                    resources.add(new RecordDecoder(ConfluentSchemaRegistry.create(properties)), RecordDecoder::close);
            partitions = reader.partitions(Topics.EVENTS).size();
            if (partitions == 0) {
                throw new VerifyException("the topic " + Topics.EVENTS + " does not exist");
            }
            isOpen = true;
        } finally {
            if (!isOpen) {
                resources.close();
            }
        }
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
        return get(admin.describeCluster().clusterId(), "the id of the cluster");
    }

    private static <T> T get(KafkaFuture<T> future, String what) {
        try {
            return future.get();
        } catch (ExecutionException e) {
            throw new VerifyException(what + " cannot be read: " + e.getCause(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VerifyException("interrupted", e);
        }
    }

    LogReader reader() {
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
        // One request for each partition, because one that has no leader must not hide the events of the others.
        return eventsPartitions().stream().anyMatch(partition -> reader.endOffset(partition) > 0);
    }

    /** Returns the partitions of all events topics. */
    List<TopicPartition> eventsPartitions() {
        return reader.topics().stream()
                .filter(Topics::isEvents)
                .flatMap(topic -> reader.partitions(topic).stream())
                .toList();
    }

    /**
     * Waits until all transactions have ended that have records in the partitions now. A transaction has all its
     * records in the log before it commits. So if one of its records was read from any of the partitions, the other
     * ones can be read now.
     *
     * @throws VerifyException if a transaction does not end
     */
    void awaitTransactions(List<TopicPartition> logs) {
        for (TopicPartition log : logs) {
            long highWatermark = get(
                            admin.listOffsets(Map.of(log, OffsetSpec.latest())).partitionResult(log),
                            "the high watermark of " + log)
                    .offset();
            long deadline = System.nanoTime() + timeout.toNanos();
            while (reader.endOffset(log) < highWatermark) {
                if (System.nanoTime() - deadline > 0) {
                    throw new VerifyException("a transaction in " + log + " has been open for " + timeout.toSeconds()
                            + " s; health of the topology names it if it hangs");
                }
                LockSupport.parkNanos(END_POLL_INTERVAL.toNanos());
            }
        }
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
        List<TopicPartition> topicPartitions = reader.partitions(topic);
        for (TopicPartition partition : topicPartitions) {
            reader.read(partition, 0, record -> {
                Puri key = RecordKey.puriOrNull(record, topicPartitions.size());
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
            case Row row -> RowFields.withPosition(row);
            case Document document -> {
                Map<String, String> fields = RowFields.of(document);
                fields.put(RowFields.POSITION, document.position().toString());
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
            long beginning = reader.beginningOffset(log);
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
            int count = reader.partitions(log.topic()).size();
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
        List<TopicPartition> existing = logs.stream()
                .filter(log -> reader.partitions(log.topic()).contains(log))
                .toList();
        return sum(reader.endOffsets(existing)) - sum(reader.beginningOffsets(existing));
    }

    private static long sum(Map<TopicPartition, Long> offsets) {
        return offsets.values().stream().mapToLong(Long::longValue).sum();
    }

    @Override
    public void close() {
        resources.close();
    }
}

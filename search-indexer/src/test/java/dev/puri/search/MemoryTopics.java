package dev.puri.search;

import dev.puri.projection.TopicAdmin;
import dev.puri.projection.wait.OutcomeCache;
import dev.puri.projection.wait.Tokens;
import dev.puri.projection.wait.Waiters;
import dev.puri.schemas.avro.Document;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.DocumentAvro;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.log.RowHash;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.InMemorySchemaRegistry;
import dev.puri.schemas.serde.RecordWriter;
import dev.puri.search.index.EntryKind;
import dev.puri.testkit.InMemoryTopics;
import io.micrometer.core.instrument.MeterRegistry;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;

/** The topics of the indexer without a broker: {@value #PARTITIONS} partitions each, in memory. Thread-safe. */
final class MemoryTopics {
    static final int PARTITIONS = 2;
    private static final long POLL_NANOS = Duration.ofMillis(2).toNanos();
    private static final Duration END_OFFSET_INTERVAL = Duration.ofMillis(20);
    private static final RecordWriter<IdentityRow> ROWS = RecordWriter.of(IdentityRow.class);
    private static final RecordWriter<Document> DOCUMENTS = RecordWriter.of(Document.class);

    private final InMemorySchemaRegistry registry = new InMemorySchemaRegistry();
    private final Map<TopicPartition, List<ConsumerRecord<byte[], byte[]>>> partitions = new HashMap<>();
    private final Map<TopicPartition, Map<Puri, Long>> hashes = new HashMap<>();
    private final InMemoryTopics topics = new InMemoryTopics();
    private volatile boolean areDeclarationsUnknown;
    private int polls;

    MemoryTopics() {
        createAgain();
    }

    /** Makes every request fail, or not. */
    void setAway(boolean newValue) {
        topics.setAway(newValue);
    }

    /** Makes every document wait for the declaration of its collection, or not. */
    void setDeclarationsUnknown(boolean newValue) {
        areDeclarationsUnknown = newValue;
    }

    /** Makes requests for offsets and topics get no response, or not. */
    void setSilent(boolean newValue) {
        topics.setSilent(newValue);
    }

    /** Deletes both topics and creates them again, without records. */
    synchronized void createAgain() {
        for (EntryKind kind : EntryKind.values()) {
            topics.create(kind.topic(), PARTITIONS);
            for (int partition = 0; partition < PARTITIONS; partition++) {
                partitions.put(new TopicPartition(kind.topic(), partition), new ArrayList<>());
                hashes(kind, partition).clear();
            }
        }
    }

    /** Writes a row and its document. */
    synchronized void write(String puri, int number, String title) {
        writeRow(puri, number);
        writeDocument(puri, number, title);
    }

    synchronized void writeRow(String puri, int number) {
        Row row = Samples.active(number, "br-1");
        Puri key = Puri.parse(puri);
        append(EntryKind.IDENTITY, puri, ROWS.encode(registry.register("rows", ROWS.schema()), RowAvro.toAvro(row)));
        hashes(EntryKind.IDENTITY, partition(puri)).put(key, RowHash.of(key, row));
    }

    synchronized void writeDocument(String puri, int number, String title) {
        Puri key = Puri.parse(puri);
        dev.puri.schemas.log.Document document = Samples.document(Samples.active(number, "br-1"), title);
        append(
                EntryKind.DOCUMENT,
                puri,
                DOCUMENTS.encode(registry.register("documents", DOCUMENTS.schema()), DocumentAvro.toAvro(document)));
        hashes(EntryKind.DOCUMENT, partition(puri)).put(key, RowHash.of(key, document));
    }

    /** Moves the end of the partition of a document behind its next record, which consumers do not get yet. */
    synchronized void announceDocument(String puri) {
        TopicPartition partition = new TopicPartition(EntryKind.DOCUMENT.topic(), partition(puri));
        topics.setEnd(partition, end(partition) + 1);
    }

    /** Writes both tombstones. */
    synchronized void erase(String puri) {
        for (EntryKind kind : EntryKind.values()) {
            append(kind, puri, null);
            hashes(kind, partition(puri)).remove(Puri.parse(puri));
        }
    }

    private Map<Puri, Long> hashes(EntryKind kind, int partition) {
        return hashes.computeIfAbsent(new TopicPartition(kind.topic(), partition), each -> new HashMap<>());
    }

    /** Returns the digest of all records of a partition. */
    synchronized PartitionDigest digest(EntryKind kind, int partition) {
        PartitionDigest digest = PartitionDigest.EMPTY;
        for (long hash : hashes(kind, partition).values()) {
            digest = digest.plus(hash);
        }
        return digest;
    }

    /** Publishes the digest of all records of a partition, as the registrar does. */
    void publishDigest(EntryKind kind, int partition, Instant at) {
        publishDigest(kind, partition, digest(kind, partition), at);
    }

    /** Publishes any digest. */
    void publishDigest(EntryKind kind, int partition, PartitionDigest digest, Instant at) {
        publishDigestHeader(kind, partition, digest.toString(), at);
    }

    /** Publishes a digest that may be malformed. */
    synchronized void publishDigestHeader(EntryKind kind, int partition, String digest, Instant at) {
        RecordHeaders headers = new RecordHeaders();
        headers.add(PartitionDigest.HEADER, digest.getBytes(StandardCharsets.US_ASCII));
        append(new TopicPartition(kind.topic(), partition), Topics.MARKER + partition, null, headers, at);
    }

    /** Returns the partition of a name. */
    static int partition(String puri) {
        return Tokens.partition(Puri.parse(puri), PARTITIONS);
    }

    synchronized long end(EntryKind kind, int partition) {
        return end(new TopicPartition(kind.topic(), partition));
    }

    /** Deletes all records, as a retention policy does. Later records continue at the same offsets. */
    synchronized void deleteRecords() {
        partitions.keySet().forEach(partition -> topics.setBegin(partition, end(partition)));
    }

    /** Returns how often a consumer was polled. */
    synchronized int polls() {
        return polls;
    }

    private void append(EntryKind kind, String puri, byte @Nullable [] value) {
        append(new TopicPartition(kind.topic(), partition(puri)), puri, value, new RecordHeaders(), Samples.TIME);
    }

    private void append(
            TopicPartition partition, String puri, byte @Nullable [] value, RecordHeaders headers, Instant at) {
        records(partition)
                .add(new ConsumerRecord<>(
                        partition.topic(),
                        partition.partition(),
                        end(partition),
                        at.toEpochMilli(),
                        TimestampType.CREATE_TIME,
                        0,
                        0,
                        Puri.parse(puri).toBytes(),
                        value,
                        headers,
                        Optional.empty()));
        topics.setEnd(partition, end(partition));
    }

    private List<ConsumerRecord<byte[], byte[]>> records(TopicPartition partition) {
        return Objects.requireNonNull(partitions.get(partition));
    }

    private long end(TopicPartition partition) {
        return records(partition).size();
    }

    Consumer<byte[], byte[]> consumer() {
        MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("none") {
            @Override
            public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
                if (!addRecords(this)) {
                    LockSupport.parkNanos(Math.min(timeout.toNanos(), POLL_NANOS));
                }
                return super.poll(Duration.ZERO);
            }

            @Override
            public Map<TopicPartition, Long> endOffsets(Collection<TopicPartition> partitions) {
                return partitions.stream().collect(Collectors.toMap(each -> each, MemoryTopics.this::end));
            }
        };
        for (EntryKind kind : EntryKind.values()) {
            List<PartitionInfo> infos = new ArrayList<>();
            for (int partition = 0; partition < PARTITIONS; partition++) {
                infos.add(new PartitionInfo(kind.topic(), partition, Node.noNode(), new Node[0], new Node[0]));
                consumer.updateBeginningOffsets(Map.of(new TopicPartition(kind.topic(), partition), 0L));
            }
            consumer.updatePartitions(kind.topic(), infos);
        }
        return consumer;
    }

    /** Gives a consumer the records after its positions. */
    private synchronized boolean addRecords(MockConsumer<byte[], byte[]> consumer) {
        polls++;
        if (topics.isAway()) {
            throw new TimeoutException("no broker");
        }
        boolean hasAdded = false;
        for (TopicPartition partition : consumer.assignment()) {
            long position = consumer.position(partition);
            if (position < topics.begin(partition)) {
                throw new OffsetOutOfRangeException(Map.of(partition, position));
            }
            for (long offset = position; offset < end(partition); offset++) {
                consumer.addRecord(records(partition).get((int) offset));
                hasAdded = true;
            }
        }
        return hasAdded;
    }

    /** Returns what an indexer would get from the brokers now. */
    SourceOffsets source(InstantSource clock) {
        try (EndOffsetMonitor monitor = new EndOffsetMonitor(this::admin, clock)) {
            monitor.askBrokers();
            return Objects.requireNonNull(monitor.lastOffsets());
        }
    }

    /** Returns the context of feeders that decode the records of these topics. */
    IndexFeeder.Context feederContext(
            OutcomeCache outcomes,
            Waiters waiters,
            Duration refreshInterval,
            Duration commitInterval,
            InstantSource clock,
            MeterRegistry meters) {
        return new IndexFeeder.Context(
                this::consumer,
                decoder(outcomes, meters),
                outcomes,
                waiters,
                refreshInterval,
                commitInterval,
                clock,
                new IndexMeters(meters));
    }

    /** Returns an indexer of these topics. It is not started yet. */
    Indexer indexer(
            Indexer.EngineOpener engine,
            OutcomeCache outcomes,
            Waiters waiters,
            InstantSource clock,
            MeterRegistry meters) {
        return new Indexer(
                engine,
                new EndOffsetMonitor(this::admin, clock, END_OFFSET_INTERVAL),
                feederContext(outcomes, waiters, Duration.ofMillis(5), Duration.ofMillis(50), clock, meters),
                new Indexer.Limits(0, Duration.ofSeconds(30), Duration.ofDays(1)),
                () -> null);
    }

    /** Returns a decoder that indexes all documents with the default weights. */
    ChangeDecoder decoder(OutcomeCache outcomes, MeterRegistry meters) {
        return new ChangeDecoder(registry, outcomes, (puri, publishedBefore) -> attributes(), meters);
    }

    private SearchedAttributes attributes() {
        if (areDeclarationsUnknown) {
            throw new DeclaredAttributes.UnknownException("unknown in this test");
        }
        return SearchedAttributes.DEFAULT;
    }

    TopicAdmin admin(String topic) {
        return new TopicAdmin(topics.admin(), topic);
    }
}

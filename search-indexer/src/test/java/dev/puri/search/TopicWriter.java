package dev.puri.search;

import static org.awaitility.Awaitility.await;

import dev.puri.schemas.avro.CollectionsEntry;
import dev.puri.schemas.avro.Document;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.DeclarationAvro;
import dev.puri.schemas.collection.SearchedAttributes;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.DocumentAvro;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import dev.puri.schemas.serde.RecordWriter;
import dev.puri.settings.Settings;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.apache.avro.specific.SpecificRecord;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Utils;
import org.jspecify.annotations.Nullable;

/** Writes the indexer's topics as the registry does: row and document of an event in one transaction. */
final class TopicWriter implements AutoCloseable {
    static final int PARTITIONS = 3;
    private static final RecordWriter<IdentityRow> ROWS = RecordWriter.of(IdentityRow.class);
    private static final RecordWriter<Document> DOCUMENTS = RecordWriter.of(Document.class);
    private static final RecordWriter<CollectionsEntry> DECLARATIONS = RecordWriter.of(CollectionsEntry.class);

    private final String brokers;
    private final String registry;
    private final int rowSchema;
    private final int documentSchema;
    private final int declarationSchema;
    private final KafkaProducer<byte[], byte[]> producer;

    TopicWriter(String brokers, String registry) {
        this.brokers = brokers;
        this.registry = registry;
        try (ConfluentSchemaRegistry schemas =
                ConfluentSchemaRegistry.create(Map.of("schema.registry.url", registry))) {
            rowSchema = schemas.register(Topics.IDENTITIES + "-value", ROWS.schema());
            documentSchema = schemas.register(Topics.DOCUMENTS + "-value", DOCUMENTS.schema());
            declarationSchema = schemas.register(Topics.COLLECTIONS + "-value", DECLARATIONS.schema());
        }
        producer = producer(brokers);
    }

    private static KafkaProducer<byte[], byte[]> producer(String brokers) {
        KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of(
                        "bootstrap.servers",
                        brokers,
                        "transactional.id",
                        UUID.randomUUID().toString()),
                new ByteArraySerializer(),
                new ByteArraySerializer());
        producer.initTransactions();
        return producer;
    }

    /**
     * Returns the settings of an indexer of these topics that listens on a free port and stops without a drain delay.
     */
    SearchSettings settings(Map<String, String> settings) {
        Map<String, String> flags = new HashMap<>(Map.of(
                "bootstrap.server", brokers, "schema.registry", registry, "http.port", "0", "drain.delay", "0s"));
        flags.putAll(settings);
        return Settings.read(SearchSettings.class, flags, Map.of(), null);
    }

    void createTopics() throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", brokers))) {
            admin.createTopics(List.of(
                            new NewTopic(Topics.IDENTITIES, PARTITIONS, (short) 1)
                                    .configs(Map.of("cleanup.policy", "compact", "delete.retention.ms", "604800000")),
                            new NewTopic(Topics.DOCUMENTS, PARTITIONS, (short) 1)
                                    .configs(Map.of("cleanup.policy", "compact", "delete.retention.ms", "604800000")),
                            new NewTopic(Topics.COLLECTIONS, 1, (short) 1),
                            new NewTopic(Topics.REJECTIONS, 1, (short) 1)))
                    .all()
                    .get();
        }
    }

    /** Deletes all records of both topics. */
    void deleteRecords() throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", brokers))) {
            for (String topic : List.of(Topics.IDENTITIES, Topics.DOCUMENTS)) {
                // Brokers do not delete records of a topic that is only compacted.
                admin.incrementalAlterConfigs(Map.of(
                                new ConfigResource(ConfigResource.Type.TOPIC, topic),
                                List.of(new AlterConfigOp(
                                        new ConfigEntry("cleanup.policy", "compact,delete"),
                                        AlterConfigOp.OpType.SET))))
                        .all()
                        .get();
                Map<TopicPartition, RecordsToDelete> ends = new HashMap<>();
                for (int partition = 0; partition < PARTITIONS; partition++) {
                    ends.put(new TopicPartition(topic, partition), RecordsToDelete.beforeOffset(-1));
                }
                // Brokers apply the new policy after a moment.
                await().ignoreExceptions()
                        .untilAsserted(() -> admin.deleteRecords(ends).all().get());
            }
        }
    }

    void deleteTopics() throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", brokers))) {
            admin.deleteTopics(List.of(Topics.IDENTITIES, Topics.DOCUMENTS, Topics.COLLECTIONS, Topics.REJECTIONS))
                    .all()
                    .get();
        }
    }

    /** Returns the position of an event of this name: in its partition, with this offset. */
    static Position event(String puri, long offset) {
        return new Position(
                Topics.EVENTS, Utils.toPositive(Utils.murmur2(Puri.parse(puri).toBytes())) % PARTITIONS, offset);
    }

    /**
     * Writes the row and the document of an event.
     *
     * @param row null for a tombstone
     * @param title null for no document
     */
    Position put(String puri, @Nullable Row row, @Nullable String title, long offset) {
        producer.beginTransaction();
        Position event = event(puri, offset);
        send(Topics.IDENTITIES, puri, row == null ? null : bytes(row), event, Outcome.APPLIED);
        send(
                Topics.DOCUMENTS,
                puri,
                row == null || title == null
                        ? null
                        : DOCUMENTS.encode(documentSchema, DocumentAvro.toAvro(Samples.document(row, title, event))),
                event,
                null);
        producer.commitTransaction();
        return event;
    }

    /** Writes many rows and documents in one transaction. */
    void fill(String collection, int from, int to) {
        producer.beginTransaction();
        for (int i = from; i < to; i++) {
            String puri = collection + ":" + i;
            Row row = Samples.active(i, "br-" + i % 3);
            send(Topics.IDENTITIES, puri, bytes(row), event(puri, i), Outcome.APPLIED);
            send(
                    Topics.DOCUMENTS,
                    puri,
                    DOCUMENTS.encode(documentSchema, DocumentAvro.toAvro(Samples.document(row, "number n" + i))),
                    event(puri, i),
                    null);
        }
        producer.commitTransaction();
    }

    /** Publishes the digest of a partition, as the registrar does. */
    void publishDigest(String topic, int partition, PartitionDigest digest) {
        producer.beginTransaction();
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                topic, partition, Puri.parse(Topics.MARKER + partition).toBytes(), null);
        record.headers().add(digest.toHeader());
        producer.send(record);
        producer.commitTransaction();
    }

    /** Writes the unchanged row, or a tombstone, for a refused event. */
    Position refuse(String puri, @Nullable Row row, Outcome outcome, long offset) {
        producer.beginTransaction();
        Position event = event(puri, offset);
        send(Topics.IDENTITIES, puri, row == null ? null : bytes(row), event, outcome);
        producer.commitTransaction();
        return event;
    }

    /**
     * Writes documents in a separate transaction, and leaves the transaction open.
     *
     * @return commits the transaction
     */
    Runnable beginTransaction(List<String> puris, long offset) {
        KafkaProducer<byte[], byte[]> other = producer(brokers);
        other.beginTransaction();
        for (String puri : puris) {
            Row row = Samples.active(1, "br-1");
            send(
                    other,
                    Topics.DOCUMENTS,
                    puri,
                    DOCUMENTS.encode(
                            documentSchema,
                            DocumentAvro.toAvro(Samples.document(row, "under way", event(puri, offset)))),
                    event(puri, offset),
                    null);
        }
        other.flush();
        return () -> {
            other.commitTransaction();
            other.close();
        };
    }

    void junk(String topic, String key, byte[] value) {
        producer.beginTransaction();
        producer.send(new ProducerRecord<>(topic, 0, key.getBytes(StandardCharsets.UTF_8), value));
        producer.commitTransaction();
    }

    void declare(String collection, boolean isPublic) {
        declare(collection, isPublic, true);
    }

    void declare(String collection, boolean isPublic, boolean isSearched) {
        declare(collection, isPublic, isSearched, SearchedAttributes.DEFAULT);
    }

    void declare(String collection, boolean isPublic, boolean isSearched, SearchedAttributes attributes) {
        String[] names = collection.split(":", -1);
        producer.beginTransaction();
        Collection declared =
                new Collection(names[0], names[1], null, Set.of(), isSearched, attributes, isPublic, "", false);
        producer.send(new ProducerRecord<>(
                Topics.COLLECTIONS,
                collection.getBytes(StandardCharsets.UTF_8),
                encoded(DECLARATIONS, declarationSchema, DeclarationAvro.toAvro(declared))));
        producer.commitTransaction();
    }

    private static <T extends SpecificRecord> byte[] encoded(RecordWriter<T> writer, int schema, T value) {
        return writer.encode(schema, value);
    }

    private byte[] bytes(Row row) {
        return ROWS.encode(rowSchema, RowAvro.toAvro(row));
    }

    private void send(String topic, String puri, byte @Nullable [] value, Position event, @Nullable Outcome outcome) {
        send(producer, topic, puri, value, event, outcome);
    }

    private static void send(
            KafkaProducer<byte[], byte[]> producer,
            String topic,
            String puri,
            byte @Nullable [] value,
            Position event,
            @Nullable Outcome outcome) {
        ProducerRecord<byte[], byte[]> record =
                new ProducerRecord<>(topic, Puri.parse(puri).toBytes(), value);
        record.headers().add(Position.HEADER, event.toString().getBytes(StandardCharsets.UTF_8));
        if (outcome != null) {
            record.headers().add(Outcome.HEADER, outcome.toString().getBytes(StandardCharsets.UTF_8));
        }
        producer.send(record);
    }

    @Override
    public void close() {
        producer.close();
    }
}

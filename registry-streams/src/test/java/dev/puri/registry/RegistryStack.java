package dev.puri.registry;

import dev.puri.client.CollectionRegistry;
import dev.puri.http.HttpSettings;
import dev.puri.projection.DigestAtOffset;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.DocumentAvro;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import dev.puri.schemas.serde.RecordReader;
import dev.puri.settings.KafkaProperties;
import dev.puri.testkit.Broker;
import dev.puri.testkit.RestartableBroker;
import dev.puri.testkit.SchemaRegistryFixture;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/** A broker with the registry's topics, and consumers of the topology's output. */
final class RegistryStack implements AutoCloseable {
    static final int PARTITIONS = 4;
    private static boolean hasSharedSchemas;

    private final RestartableBroker broker = Broker.start();
    private final String schemaRegistry;
    private final Admin admin;
    private final RecordReader<dev.puri.schemas.avro.Document> documentReader =
            RecordReader.of(dev.puri.schemas.avro.Document.class);
    private final List<Observed> identities = new ArrayList<>();
    private final List<Rejection> rejections = new ArrayList<>();
    private final Map<Position, Puri> documented = new HashMap<>();
    private final Map<Puri, Document> documents = new HashMap<>();
    private final Map<TopicPartition, DigestedPartition> digested = new HashMap<>();
    private final Map<TopicPartition, DigestAtOffset> publishedDigests = new HashMap<>();
    private final KafkaConsumer<byte[], byte[]> eyes;

    /** A record of identities. */
    record Observed(Puri puri, Position position, Outcome outcome, Row row, long timestamp) {}

    /**
     * Returns the URL of the schema registry that the tests of this JVM share. It has all schemas, because it responds
     * with a conflict if two topologies set the first compatibility of a subject at a time.
     */
    static synchronized String sharedSchemaRegistry() {
        String url = SchemaRegistryFixture.shared().url();
        if (!hasSharedSchemas) {
            try (ConfluentSchemaRegistry registry =
                    ConfluentSchemaRegistry.create(Map.of("schema.registry.url", url))) {
                RegistrySchemas.register(registry, Set.of("music"));
            }
            hasSharedSchemas = true;
        }
        return url;
    }

    RegistryStack(String schemaRegistry, Set<String> ownedNamespaces) {
        this.schemaRegistry = schemaRegistry;
        admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()));
        RegistryTopics.create(admin, PARTITIONS, (short) 1, ownedNamespaces);
        try (ConfluentSchemaRegistry registry = registry()) {
            RegistrySchemas.register(registry, ownedNamespaces);
        }
        eyes = new KafkaConsumer<>(
                Map.of(
                        "bootstrap.servers", broker.bootstrapServers(),
                        "isolation.level", "read_committed",
                        "auto.offset.reset", "earliest"),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
        List<TopicPartition> watched = new ArrayList<>();
        for (int p = 0; p < PARTITIONS; p++) {
            watched.add(new TopicPartition(Topics.IDENTITIES, p));
            watched.add(new TopicPartition(Topics.DOCUMENTS, p));
            watched.add(new TopicPartition(Topics.REJECTIONS, p));
            for (String topic : List.of(Topics.IDENTITIES, Topics.DOCUMENTS)) {
                digested.put(new TopicPartition(topic, p), new DigestedPartition(topic));
            }
        }
        eyes.assign(watched);
        eyes.seekToBeginning(watched);
    }

    ConfluentSchemaRegistry registry() {
        return ConfluentSchemaRegistry.create(Map.of("schema.registry.url", schemaRegistry));
    }

    Admin admin() {
        return admin;
    }

    Map<String, Object> clientProperties() {
        return Map.of("bootstrap.servers", broker.bootstrapServers(), "schema.registry.url", schemaRegistry);
    }

    StreamsSettings settings(Path stateDir) {
        return settings(stateDir, Map.of());
    }

    /**
     * @param more Kafka properties in addition to those of every test
     */
    StreamsSettings settings(Path stateDir, Map<String, String> more) {
        Map<String, String> kafka = new HashMap<>(more);
        kafka.put("metadata.max.age.ms", "1000");
        return new StreamsSettings(
                broker.bootstrapServers(),
                schemaRegistry,
                "puri-registry",
                stateDir,
                2,
                0,
                Duration.ofMillis(25),
                1,
                64,
                "127.0.0.1",
                0,
                HttpSettings.DEFAULT,
                new KafkaProperties(kafka));
    }

    void declare(List<Declaration> declarations) {
        new CollectionRegistry(clientProperties(), Duration.ofSeconds(30)).apply(declarations);
    }

    /** The partitions of identities and documents, as far as they were read. */
    Map<TopicPartition, DigestedPartition> digested() {
        return digested;
    }

    /** The last digest of each partition of identities and documents, as far as they were read, with its offset. */
    Map<TopicPartition, DigestAtOffset> publishedDigests() {
        return publishedDigests;
    }

    /** Reads the new records, without waiting long, and compares digests. */
    RegistryStack look() {
        RecordReader<IdentityRow> rows = RecordReader.of(IdentityRow.class);
        RecordReader<Rejection> refused = RecordReader.of(Rejection.class);
        for (ConsumerRecord<byte[], byte[]> record : eyes.poll(Duration.ofMillis(200))) {
            if (record.topic().equals(Topics.REJECTIONS)) {
                if (record.value() == null) {
                    // The topic has a record without a value for each erasure.
                    continue;
                }
                rejections.add(refused.decode(record.value(), Rejection.getClassSchema()));
                continue;
            }
            TopicPartition partition = new TopicPartition(record.topic(), record.partition());
            digested.get(partition).read(record.key(), record.value(), record.headers());
            PartitionDigest digest = PartitionDigest.of(record.headers());
            if (digest != null) {
                publishedDigests.put(partition, new DigestAtOffset(record.offset(), digest));
                continue;
            }
            if (record.topic().equals(Topics.DOCUMENTS)) {
                takeDocument(record);
                continue;
            }
            identities.add(new Observed(
                    Puri.parse(new String(record.key(), StandardCharsets.UTF_8)),
                    Position.parse(header(record, Position.HEADER)),
                    Outcome.parse(header(record, Outcome.HEADER)),
                    record.value() == null
                            ? null
                            : RowAvro.fromAvro(rows.decode(record.value(), IdentityRow.getClassSchema())),
                    record.timestamp()));
        }
        return this;
    }

    private void takeDocument(ConsumerRecord<byte[], byte[]> record) {
        Puri puri = Puri.parse(new String(record.key(), StandardCharsets.UTF_8));
        Position position = Position.parse(header(record, Position.HEADER));
        if (documented.put(position, puri) != null) {
            throw new AssertionError("documented twice: " + puri + " at " + position);
        }
        if (record.value() == null) {
            documents.remove(puri);
        } else {
            documents.put(
                    puri,
                    DocumentAvro.fromAvro(
                            documentReader.decode(record.value(), dev.puri.schemas.avro.Document.getClassSchema())));
        }
    }

    /** The content of the documents topic after compaction. */
    Map<Puri, Document> documents() {
        return documents;
    }

    /** Whether an event wrote a document or its tombstone. */
    boolean isDocumented(Position position) {
        return documented.containsKey(position);
    }

    List<Observed> identities() {
        return identities;
    }

    List<Rejection> rejections() {
        return rejections;
    }

    Map<Position, Outcome> outcomes() {
        Map<Position, Outcome> outcomes = new HashMap<>();
        for (Observed observed : identities) {
            if (outcomes.put(observed.position(), observed.outcome()) != null) {
                throw new AssertionError("answered twice: " + observed);
            }
        }
        return outcomes;
    }

    Map<Puri, Row> rows() {
        Map<Puri, Row> rows = new HashMap<>();
        for (Observed observed : identities) {
            if (observed.row() == null) {
                rows.remove(observed.puri());
            } else {
                rows.put(observed.puri(), observed.row());
            }
        }
        return rows;
    }

    /** The last committed value of a key; null if it is a tombstone or there is none. */
    byte @Nullable [] lastOf(String topic, byte[] key) {
        byte[] last = null;
        for (ConsumerRecord<byte[], byte[]> record : records(topic)) {
            if (Arrays.equals(record.key(), key)) {
                last = record.value();
            }
        }
        return last;
    }

    /** The committed records of a topic, in the order of each partition. */
    List<ConsumerRecord<byte[], byte[]>> records(String topic) {
        Map<String, Object> properties = new HashMap<>(clientProperties());
        properties.put("isolation.level", "read_committed");
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = consumer.partitionsFor(topic).stream()
                    .map(info -> new TopicPartition(topic, info.partition()))
                    .toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            while (partitions.stream().anyMatch(p -> consumer.position(p) < ends.get(p))) {
                consumer.poll(Duration.ofMillis(200)).forEach(records::add);
            }
        }
        return records;
    }

    private static String header(ConsumerRecord<byte[], byte[]> record, String name) {
        return new String(record.headers().lastHeader(name).value(), StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        eyes.close();
        admin.close(Duration.ofSeconds(5));
        broker.close();
    }
}

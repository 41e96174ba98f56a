package dev.puri.registry;

import dev.puri.http.HttpSettings;
import dev.puri.schemas.avro.CollectionsEntry;
import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.collection.DeclarationAvro;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Document;
import dev.puri.schemas.log.DocumentAvro;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.EventAvro;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.InMemorySchemaRegistry;
import dev.puri.schemas.serde.RecordReader;
import dev.puri.schemas.serde.RecordWriter;
import dev.puri.settings.KafkaProperties;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TestOutputTopic;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.test.TestRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Base of tests of the topology: a {@link TopologyTestDriver} runs it as a whole, on topics with one partition. */
abstract class DrivenTopology {
    static final Puri TRACK = Puri.parse("soundcloud:tracks:1");
    static final Handle HANDLE = Handle.parse("trk_4k7vx9tz2nqr8w3");
    static final Collection TRACKS =
            new Collection("soundcloud", "tracks", new Prefix("trk"), Set.of(), false, false, "", false);
    static final Collection SEARCHED =
            new Collection("soundcloud", "tracks", new Prefix("trk"), Set.of(), true, false, "", false);

    final InMemorySchemaRegistry schemaRegistry = new InMemorySchemaRegistry();
    final SchemaLookup schemas =
            new SchemaLookup(schemaRegistry, InstantSource.system(), Duration.ofSeconds(30), Integer.MAX_VALUE);
    final TaskStates taskStates = new TaskStates();
    final SkippedRecords skipped = new SkippedRecords();
    final RecordWriter<IdentityEvent> eventWriter = RecordWriter.of(IdentityEvent.class);
    final RecordWriter<CollectionsEntry> entryWriter = RecordWriter.of(CollectionsEntry.class);
    TopologyTestDriver driver;
    TestInputTopic<byte[], byte[]> events;
    TestInputTopic<byte[], byte[]> collections;
    OutputReader identities;
    OutputReader documents;
    OutputReader rejections;
    private int uuids;

    @TempDir
    Path stateDir;

    @BeforeEach
    void open() {
        Properties properties = properties();
        driver = new TopologyTestDriver(topology(properties), properties, Instant.parse("2026-01-01T00:00:00Z"));
        events = input(Topics.EVENTS);
        collections = input(Topics.COLLECTIONS);
        identities = output(Topics.IDENTITIES);
        documents = output(Topics.DOCUMENTS);
        rejections = output(Topics.REJECTIONS);
    }

    @AfterEach
    void close() {
        driver.close();
        schemas.close();
    }

    Rejection rejection() {
        return RecordReader.of(Rejection.class).decode(rejections.readRecord().value(), Rejection.getClassSchema());
    }

    Properties properties() {
        return StreamsProperties.of(new StreamsSettings(
                "nowhere:0",
                "http://nowhere",
                "puri-registry",
                stateDir,
                1,
                0,
                Duration.ofMillis(25),
                1,
                64,
                "127.0.0.1",
                0,
                HttpSettings.DEFAULT,
                KafkaProperties.NONE));
    }

    Topology topology(Properties properties) {
        return RegistryTopology.build(
                new RegistryTopology.Components(
                        schemas,
                        new CollectionsRegistry(schemas, skipped),
                        new OutputEncoder(schemaRegistry),
                        taskStates,
                        skipped),
                1,
                new StreamsConfig(properties));
    }

    TestInputTopic<byte[], byte[]> input(String topic) {
        return driver.createInputTopic(topic, new ByteArraySerializer(), new ByteArraySerializer());
    }

    OutputReader output(String topic) {
        return new OutputReader(
                driver.createOutputTopic(topic, new ByteArrayDeserializer(), new ByteArrayDeserializer()));
    }

    void declare(Declaration declaration) {
        int id = schemaRegistry.register("collections", entryWriter.schema());
        collections.pipeInput(
                declaration.key().getBytes(StandardCharsets.UTF_8),
                entryWriter.encode(id, DeclarationAvro.toAvro(declaration)));
    }

    void publish(Event event) {
        events.pipeInput(event.puri().toBytes(), encoded(event));
    }

    byte[] encoded(Event event) {
        return eventWriter.encode(eventSchemaId(), EventAvro.toAvro(event));
    }

    int eventSchemaId() {
        return schemaRegistry.register("events", eventWriter.schema());
    }

    Event created(Puri puri, @Nullable Handle handle) {
        return event(puri, created(uuid(), handle, "t"));
    }

    static Change.Created created(UUID uuid, @Nullable Handle handle, String title) {
        return new Change.Created(uuid, new Owner("catalog"), new Shard("br-1"), handle, Map.of("title", title));
    }

    static Document decoded(TestRecord<byte[], byte[]> record) {
        return DocumentAvro.fromAvro(RecordReader.of(dev.puri.schemas.avro.Document.class)
                .decode(record.value(), dev.puri.schemas.avro.Document.getClassSchema()));
    }

    /** The stored text of the track. */
    byte @Nullable [] text() {
        return driver.<byte[], byte[]>getKeyValueStore(RegistryTopology.TEXTS_STORE)
                .get(StoreKey.of(TRACK));
    }

    Event event(Puri puri, Change change) {
        return new Event(uuid(), puri, Instant.parse("2026-01-01T00:00:00Z"), "test", null, null, change);
    }

    UUID uuid() {
        return new UUID(0x0197_0000_0000_7000L, 0x8000_0000_0000_0000L | uuids++);
    }

    /** Reads an output topic. Most tests read the answers to events, so digests are skipped. */
    static final class OutputReader {
        private final TestOutputTopic<byte[], byte[]> topic;
        private final Deque<TestRecord<byte[], byte[]>> unread = new ArrayDeque<>();

        OutputReader(TestOutputTopic<byte[], byte[]> topic) {
            this.topic = topic;
        }

        /** Reads the next record that is no digest. */
        TestRecord<byte[], byte[]> readRecord() {
            skipDigests();
            return unread.removeFirst();
        }

        /** Whether the topic has only digests left. */
        boolean isEmpty() {
            skipDigests();
            return unread.isEmpty();
        }

        /** Reads all records, with the digests. */
        List<TestRecord<byte[], byte[]>> readAll() {
            unread.addAll(topic.readRecordsToList());
            List<TestRecord<byte[], byte[]>> all = List.copyOf(unread);
            unread.clear();
            return all;
        }

        private void skipDigests() {
            unread.addAll(topic.readRecordsToList());
            while (!unread.isEmpty()
                    && DigestedPartition.isDigest(unread.getFirst().headers())) {
                unread.removeFirst();
            }
        }
    }

    static String header(TestRecord<byte[], byte[]> record, String name) {
        return new String(record.headers().lastHeader(name).value(), StandardCharsets.UTF_8);
    }
}

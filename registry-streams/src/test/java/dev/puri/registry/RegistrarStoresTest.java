package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.avro.CollectionsEntry;
import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.collection.Collection;
import dev.puri.schemas.collection.DeclarationAvro;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.EventAvro;
import dev.puri.schemas.log.PartitionDigest;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.InMemorySchemaRegistry;
import dev.puri.schemas.serde.RecordWriter;
import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The calls of each event to the registrar's stores. */
class RegistrarStoresTest {
    private static final UUID ID = UUID.fromString("0197f3a4-7c1e-7d2b-9a55-0123456789ab");

    private final InMemorySchemaRegistry schemaRegistry = new InMemorySchemaRegistry();
    private final SchemaLookup schemas =
            new SchemaLookup(schemaRegistry, InstantSource.system(), Duration.ofSeconds(30), Integer.MAX_VALUE);
    private final CollectionsRegistry collections = new CollectionsRegistry(schemas, new SkippedRecords());
    private final RecordWriter<IdentityEvent> events = RecordWriter.of(IdentityEvent.class);
    private final int eventId = schemaRegistry.register("events", events.schema());
    private final List<String> calls = new ArrayList<>();
    private MockProcessorContext<byte[], byte[]> context;
    private Registrar registrar;
    private int published;

    @BeforeEach
    void start() {
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "app");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "nowhere:0");
        context = new MockProcessorContext<>(config, new TaskId(0, 0), new File("/nonexistent"));
        context.setCurrentSystemTimeMs(0);
        for (String name : List.of(
                RegistryTopology.REGISTRATIONS_STORE,
                RegistryTopology.TEXTS_STORE,
                RegistryTopology.PARKED_STORE,
                RegistryTopology.COUNTS_STORE)) {
            context.addStateStore(recording(name));
        }
        registrar = new Registrar(
                new EventParser(schemas),
                collections,
                new OutputEncoder(schemaRegistry),
                new TaskStates(),
                new SkippedRecords(),
                1);
        registrar.init(context);
        declare(new Collection("soundcloud", "tracks", null, Set.of(), true, false, "", false));
        declare(new Collection("soundcloud", "users", null, Set.of(), false, false, "", false));
        calls.clear();
    }

    @AfterEach
    void stop() {
        registrar.close();
        schemas.close();
    }

    /** Documents must cost nothing in collections without search. */
    @Test
    void unsearchableCollectionNeverAccessesTexts() {
        for (String collection : List.of("users", "undeclared")) {
            Puri puri = Puri.of("soundcloud", collection, "1");
            for (Change change : List.of(
                    created(),
                    new Change.Described(Map.of("name", "n")),
                    new Change.Moved(null, new Shard("us-1")),
                    new Change.Merged(Puri.parse("soundcloud:users:2")),
                    new Change.Deleted())) {
                assertThat(callsOf(puri, change))
                        .as(collection + ", " + change)
                        .containsExactly("registrations.get", "registrations.put", "tally.put");
            }
            assertThat(callsOf(puri, new Change.Erased()))
                    .as("a text is deleted without a read")
                    .containsExactly("registrations.get", "registrations.put", "texts.put", "tally.put");
        }
    }

    @Test
    void readsTextOnlyOfAnExistingDocument() {
        Puri puri = Puri.parse("soundcloud:tracks:1");
        List<String> written = List.of("registrations.get", "registrations.put", "texts.put", "tally.put");
        assertThat(callsOf(puri, created())).isEqualTo(written);
        List<String> replaced =
                List.of("registrations.get", "registrations.put", "texts.get", "texts.put", "tally.put");
        assertThat(callsOf(puri, new Change.Described(Map.of("name", "n")))).isEqualTo(replaced);
        assertThat(callsOf(puri, new Change.Moved(null, new Shard("us-1"))))
                .containsExactly("registrations.get", "registrations.put", "texts.get", "tally.put");
        assertThat(callsOf(puri, new Change.Deleted())).isEqualTo(replaced);
    }

    /** Kafka Streams commits a transaction after each punctuation. */
    @Test
    void anIdleTaskHasNoTicksAndPublishesItsDigestsEachMinute() {
        punctuate(Registrar.TICK_INTERVAL, DigestState.REST);
        assertThat(context.forwarded()).hasSize(2);
        assertThat(active(Registrar.TICK_INTERVAL)).isEmpty();

        callsOf(Puri.parse("soundcloud:tracks:1"), created());
        assertThat(active(Registrar.TICK_INTERVAL)).hasSize(1);
        punctuate(Registrar.TICK_INTERVAL, DigestState.REST);
        assertThat(active(Registrar.TICK_INTERVAL)).isEmpty();

        calls.clear();
        context.resetForwards();
        punctuate(Registrar.DIGEST_INTERVAL, Registrar.DIGEST_INTERVAL);
        assertThat(context.forwarded()).hasSize(2);
        assertThat(calls).isEmpty();
        assertThat(active(Registrar.TICK_INTERVAL)).isEmpty();
    }

    @Test
    void aParkedEventNeedsTicksUntilItIsDecided() {
        punctuate(Registrar.TICK_INTERVAL, DigestState.REST);
        Handle handle = Handle.parse("trk_4k7vx9tz2nqr8w3");
        callsOf(
                Puri.parse("soundcloud:tracks:1"),
                new Change.Created(ID, new Owner("accounts"), new Shard("br-1"), handle, Map.of()));
        punctuate(Registrar.TICK_INTERVAL, Duration.ofSeconds(4));
        assertThat(active(Registrar.TICK_INTERVAL)).hasSize(1);
        punctuate(Registrar.TICK_INTERVAL, Registrar.DECLARATION_WAIT);
        assertThat(active(Registrar.TICK_INTERVAL)).isEmpty();
    }

    @Test
    void taskWithTheStateOfAnEarlierReleasePublishesNoDigest() {
        ByteBuffer counts = ByteBuffer.allocate(EventCounts.BYTES);
        new EventCounts(5, 4, 1, 0, 0, 0).writeTo(counts);
        KeyValueStore<byte[], byte[]> countsStore = context.getStateStore(RegistryTopology.COUNTS_STORE);
        countsStore.put(new byte[] {0}, counts.array());
        registrar.init(context);
        callsOf(Puri.parse("soundcloud:tracks:1"), created());
        context.resetForwards();
        publishAllDigests();
        assertThat(context.forwarded()).isEmpty();
        registrar.init(context);
        publishAllDigests();
        assertThat(context.forwarded()).isEmpty();
        assertThat(countsStore.get(new byte[] {0})).hasSize(EventCounts.BYTES);
    }

    /** An empty digest would make every copy of the partition differ. */
    @Test
    void taskThatLostItsCountsPublishesNoDigest() {
        callsOf(Puri.parse("soundcloud:users:1"), created());
        loseCounts();
        publishAllDigests();
        assertThat(context.forwarded()).isEmpty();
        callsOf(Puri.parse("soundcloud:users:2"), created());
        registrar.init(context);
        context.resetForwards();
        publishAllDigests();
        assertThat(context.forwarded()).isEmpty();
    }

    @Test
    void taskWithoutIdentitiesPublishesItsDigestAfterTheWeeklyMarker() {
        punctuate(Duration.ofHours(1), Duration.ofDays(8));
        calls.clear();
        loseCounts();
        publishAllDigests();
        assertThat(context.forwarded())
                .isNotEmpty()
                .allSatisfy(forwarded -> assertThat(
                                PartitionDigest.of(forwarded.record().headers()))
                        .isEqualTo(PartitionDigest.EMPTY));
    }

    private void loseCounts() {
        KeyValueStore<byte[], byte[]> countsStore = context.getStateStore(RegistryTopology.COUNTS_STORE);
        countsStore.delete(new byte[] {0});
        registrar.init(context);
        context.resetForwards();
    }

    @Test
    void aMissingTextEndsTheDigestsAndNotTheTask() {
        Puri puri = Puri.parse("soundcloud:tracks:1");
        callsOf(puri, created());
        KeyValueStore<byte[], byte[]> texts = context.getStateStore(RegistryTopology.TEXTS_STORE);
        texts.delete(StoreKey.of(puri));
        context.resetForwards();
        callsOf(puri, new Change.Moved(null, new Shard("us-1")));
        assertThat(topicsOfForwarded()).containsExactly(OutputTopic.IDENTITIES.node());
        context.resetForwards();
        publishAllDigests();
        assertThat(context.forwarded()).isEmpty();

        callsOf(puri, new Change.Described(Map.of("name", "again")));
        assertThat(topicsOfForwarded())
                .containsExactlyInAnyOrder(OutputTopic.DOCUMENTS.node(), OutputTopic.IDENTITIES.node());
        assertThat(texts.get(StoreKey.of(puri))).isNotNull();
        context.resetForwards();
        callsOf(puri, new Change.Merged(Puri.parse("soundcloud:tracks:2")));
        assertThat(topicsOfForwarded())
                .containsExactlyInAnyOrder(OutputTopic.DOCUMENTS.node(), OutputTopic.IDENTITIES.node());
        texts.delete(StoreKey.of(puri));
        context.resetForwards();
        callsOf(puri, new Change.Deleted());
        assertThat(topicsOfForwarded())
                .containsExactlyInAnyOrder(OutputTopic.DOCUMENTS.node(), OutputTopic.IDENTITIES.node());
    }

    private List<String> topicsOfForwarded() {
        return context.forwarded().stream()
                .map(forwarded -> forwarded.childName().orElseThrow())
                .toList();
    }

    private void publishAllDigests() {
        punctuate(Registrar.TICK_INTERVAL, DigestState.REST.multipliedBy(2));
        punctuate(Registrar.DIGEST_INTERVAL, Registrar.DIGEST_INTERVAL);
    }

    /** Lets time pass in steps of an interval, with the punctuations of this interval. */
    private void punctuate(Duration interval, Duration time) {
        for (long step = time.dividedBy(interval); step > 0; step--) {
            long now = context.currentSystemTimeMs() + interval.toMillis();
            context.setCurrentSystemTimeMs(now);
            active(interval).forEach(punctuator -> punctuator.getPunctuator().punctuate(now));
        }
    }

    private List<MockProcessorContext.CapturedPunctuator> active(Duration interval) {
        return context.scheduledPunctuators().stream()
                .filter(punctuator ->
                        !punctuator.cancelled() && punctuator.getInterval().equals(interval))
                .toList();
    }

    private List<String> callsOf(Puri puri, Change change) {
        calls.clear();
        int before = published++;
        Event event = new Event(
                new UUID(ID.getMostSignificantBits(), ID.getLeastSignificantBits() + published),
                puri,
                Instant.EPOCH,
                "test",
                null,
                null,
                change);
        context.setRecordMetadata(Topics.EVENTS, 0, before);
        registrar.process(
                new Record<>(puri.toBytes(), events.encode(eventId, EventAvro.toAvro(event)), 0, new RecordHeaders()));
        return List.copyOf(calls);
    }

    private static Change.Created created() {
        return new Change.Created(ID, new Owner("accounts"), new Shard("br-1"), null, Map.of("name", "n"));
    }

    private void declare(Collection collection) {
        RecordWriter<CollectionsEntry> writer = RecordWriter.of(CollectionsEntry.class);
        int id = schemaRegistry.register("collections", writer.schema());
        collections
                .newProcessor()
                .process(new Record<>(
                        TextCodec.utf8(collection.key()), writer.encode(id, DeclarationAvro.toAvro(collection)), 0));
    }

    /** A store that records each read and each write. */
    private KeyValueStore<?, ?> recording(String name) {
        KeyValueStore<byte[], byte[]> store = Stores.keyValueStoreBuilder(
                        Stores.inMemoryKeyValueStore(name), Serdes.ByteArray(), Serdes.ByteArray())
                .withLoggingDisabled()
                .build();
        store.init(context.getStateStoreContext(), store);
        return (KeyValueStore<?, ?>) Proxy.newProxyInstance(
                RegistrarStoresTest.class.getClassLoader(),
                new Class<?>[] {KeyValueStore.class},
                (proxy, method, arguments) -> {
                    if (!method.getName().equals("name")) {
                        calls.add(name + '.' + method.getName());
                    }
                    try {
                        return method.invoke(store, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}

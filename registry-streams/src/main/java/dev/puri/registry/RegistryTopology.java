package dev.puri.registry;

import dev.puri.projection.TimestampInterceptor;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Topics;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Named;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.processor.WallclockTimestampExtractor;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/**
 * Builds the Kafka Streams topology. This class is the map of the module: it shows every stage in the order in which an
 * event passes through it.
 *
 * <pre>
 *   puri.events.v1.{namespace}
 *            │
 *        forwarder ──▶ (intake)        puri.collections.v1 ──▶ CollectionsRegistry
 *                       │                                          ┊
 *   puri.events.v1 ──▶ registrar ◀┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┘
 *                      ▲   │ │ └──▶ puri.identities.v1
 *       puri.grants.v1 │   │ ├────▶ puri.documents.v1
 *                      │   │ └────▶ puri.rejections.v1
 *                      │   ▼
 *                      │ (claims) by handle
 *                      │   ▼
 *                      └─ clerk
 * </pre>
 *
 * <p>The records of the registrar are partitioned by pURI, those of the clerk by handle. Only events that claim a
 * handle pass through the clerk. Topics in parentheses are repartition topics of Kafka Streams. {@code puri.grants.v1}
 * is an ordinary topic, because the DSL does not allow a cycle through a repartition topic.
 *
 * <p>Records get the wall-clock time as their timestamp. A producer may set any timestamp, and -1 stops Kafka Streams'
 * default extractor. The global thread uses no extractor, so {@link TimestampInterceptor} replaces the timestamps of
 * collections.
 */
final class RegistryTopology {
    /** The registrar's state of each pURI, a {@link Registration}. */
    static final String REGISTRATIONS_STORE = "registrations";

    /** The searchable attributes of each pURI that has a document. */
    static final String TEXTS_STORE = "texts";

    /** The events that wait in {@link Parking}. */
    static final String PARKED_STORE = "parked";

    /** The {@link TaskState} of the partition. */
    static final String COUNTS_STORE = "tally";

    /** The holder of each handle, as an {@link IdentityHash}. */
    static final String HANDLES_STORE = "handles";

    /** Stays empty: a global processor needs a store, and {@link CollectionsRegistry} keeps the declarations. */
    static final String DECLARED_STORE = "declared";

    // Kafka Streams adds the application id and "-repartition" to these names.
    static final String REPARTITIONED_EVENTS = "intake";
    static final String CLAIMS_TOPIC = "claims";

    /** Names of the repartition topics without their prefix, the application id. */
    static final List<String> REPARTITION_TOPICS =
            List.of(REPARTITIONED_EVENTS + "-repartition", CLAIMS_TOPIC + "-repartition");

    /** Stores that have a changelog topic. */
    static final List<String> CHANGELOG_STORES =
            List.of(REGISTRATIONS_STORE, TEXTS_STORE, PARKED_STORE, COUNTS_STORE, HANDLES_STORE);

    private static final Pattern NAMESPACE_EVENTS_TOPICS =
            Pattern.compile(Pattern.quote(Topics.EVENTS) + "\\.[a-z0-9._-]{1," + Puri.MAX_NAME_BYTES + "}");

    private RegistryTopology() {}

    /**
     * Builds the topology.
     *
     * @param partitions number of partitions of the events topic, and therefore of the repartition topics
     */
    static Topology build(Components components, int partitions, StreamsConfig config) {
        StreamsBuilder builder = new StreamsBuilder(new TopologyConfig(config));
        builder.addGlobalStore(
                inMemoryStore(DECLARED_STORE).withLoggingDisabled(),
                Topics.COLLECTIONS,
                consumed("collections"),
                components.collections()::newProcessor);

        KStream<byte[], byte[]> namespaceEvents = builder.stream(NAMESPACE_EVENTS_TOPICS, consumed("namespace-events"))
                .process(CommitPacing.paced(NamespaceEventForwarder::new), Named.as("intake-stage"))
                .repartition(Repartitioned.<byte[], byte[]>as(REPARTITIONED_EVENTS)
                        .withKeySerde(Serdes.ByteArray())
                        .withValueSerde(Serdes.ByteArray())
                        .withNumberOfPartitions(partitions));

        KStream<byte[], byte[]> outputs = builder.stream(
                        List.of(Topics.EVENTS, Topics.GRANTS), consumed("events-and-grants"))
                // All inputs of the registrar: events of both kinds of topics, and grants.
                .merge(namespaceEvents, Named.as("events-of-all"))
                .process(registrar(components, partitions), Named.as("registrar"));

        // The registrar names the sink of each record it forwards.
        for (OutputTopic output : List.of(OutputTopic.IDENTITIES, OutputTopic.DOCUMENTS, OutputTopic.REJECTIONS)) {
            outputs.to(output.topic(), produced(output.node()));
        }
        outputs.repartition(Repartitioned.<byte[], byte[]>as(CLAIMS_TOPIC)
                        .withKeySerde(Serdes.ByteArray())
                        .withValueSerde(Serdes.ByteArray())
                        .withNumberOfPartitions(partitions))
                .process(
                        CommitPacing.paced(() -> new Clerk(components.skippedRecords()), rocksDbStore(HANDLES_STORE)),
                        Named.as("clerk"))
                .to(Topics.GRANTS, produced("grants-sink"));
        return builder.build();
    }

    private static ProcessorSupplier<byte[], byte[], byte[], byte[]> registrar(Components components, int partitions) {
        return CommitPacing.paced(
                () -> new Registrar(
                        new EventParser(components.schemas()),
                        components.collections(),
                        components.encoder(),
                        components.taskStates(),
                        components.skippedRecords(),
                        partitions),
                rocksDbStore(REGISTRATIONS_STORE),
                rocksDbStore(TEXTS_STORE),
                rocksDbStore(PARKED_STORE),
                // Every event updates the same key of the counts store. The cache combines the updates, so that each
                // commit writes one changelog record.
                inMemoryStore(COUNTS_STORE).withCachingEnabled());
    }

    private static StoreBuilder<KeyValueStore<byte[], byte[]>> rocksDbStore(String name) {
        return Stores.keyValueStoreBuilder(
                Stores.persistentKeyValueStore(name), Serdes.ByteArray(), Serdes.ByteArray());
    }

    private static StoreBuilder<KeyValueStore<byte[], byte[]>> inMemoryStore(String name) {
        return Stores.keyValueStoreBuilder(Stores.inMemoryKeyValueStore(name), Serdes.ByteArray(), Serdes.ByteArray());
    }

    private static Consumed<byte[], byte[]> consumed(String name) {
        return Consumed.with(Serdes.ByteArray(), Serdes.ByteArray())
                .withTimestampExtractor(new WallclockTimestampExtractor())
                .withName(name);
    }

    private static Produced<byte[], byte[]> produced(String name) {
        return Produced.with(Serdes.ByteArray(), Serdes.ByteArray()).withName(name);
    }

    /** The objects that the processors of one topology share. */
    record Components(
            SchemaLookup schemas,
            CollectionsRegistry collections,
            OutputEncoder encoder,
            TaskStates taskStates,
            SkippedRecords skippedRecords) {}
}

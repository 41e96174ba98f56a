package dev.puri.registry;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Topics;
import dev.puri.tail.RecordTimes;
import java.util.List;
import java.util.Set;
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
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;

/**
 * The map of this module: every stage, in the order in which an event passes through it.
 *
 * <pre>
 *   puri.events.v1.{namespace}
 *            │
 *         intake ──▶ (intake)          puri.collections.v1 ──▶ declared, on every instance
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
 * <p>The registrar is keyed by pURI, the clerk by handle. Only an event that claims a handle passes through the clerk;
 * the registrar settles every other event at once. Topics in parentheses are Kafka Streams' repartition topics. {@code
 * puri.grants.v1} is not one, because the DSL does not allow a cycle through a repartition topic.
 *
 * <p>All timestamps are wall-clock times. A producer's timestamp may be anything, and -1 stops Kafka's default
 * extractor. {@link RecordTimes} replaces the timestamps of collections, because the global thread uses no extractor.
 */
final class RegistryTopology {
    static final String REGISTRATIONS_STORE = "registrations";
    static final String TEXTS_STORE = "texts";
    static final String PARKED_STORE = "parked";
    static final String COUNTS_STORE = "tally";
    static final String HANDLES_STORE = "handles";
    static final String DECLARED_STORE = "declared";
    static final String INTAKE = "intake";
    static final String CLAIMS_TOPIC = "claims";

    /** The repartition topics, without the application id that their names begin with. */
    static final List<String> REPARTITION_TOPICS = List.of(INTAKE + "-repartition", CLAIMS_TOPIC + "-repartition");

    static final List<String> CHANGELOG_STORES =
            List.of(REGISTRATIONS_STORE, TEXTS_STORE, PARKED_STORE, COUNTS_STORE, HANDLES_STORE);

    private static final Pattern NAMESPACE_EVENTS =
            Pattern.compile(Pattern.quote(Topics.EVENTS) + "\\.[a-z0-9._-]{1," + Puri.MAX_NAME_BYTES + "}");

    private RegistryTopology() {}

    /**
     * Builds the topology.
     *
     * @param partitions number of partitions of the events topic, and so of every topic keyed by pURI
     */
    static Topology build(Components components, int partitions, StreamsConfig config) {
        StreamsBuilder builder = new StreamsBuilder(new TopologyConfig(config));
        builder.addGlobalStore(
                inMemory(DECLARED_STORE).withLoggingDisabled(),
                Topics.COLLECTIONS,
                consumed("collections"),
                components.collections()::newProcessor);

        KStream<byte[], byte[]> intake = builder.stream(NAMESPACE_EVENTS, consumed("namespace-events"))
                .process(CommitPacing.paced(NamespaceEventForwarder::new), Named.as("intake-stage"))
                .repartition(Repartitioned.<byte[], byte[]>as(INTAKE)
                        .withKeySerde(Serdes.ByteArray())
                        .withValueSerde(Serdes.ByteArray())
                        .withNumberOfPartitions(partitions));

        KStream<byte[], byte[]> outputs = builder.stream(
                        List.of(Topics.EVENTS, Topics.GRANTS), consumed("events-and-grants"))
                .merge(intake, Named.as("events-of-all"))
                .process(CommitPacing.paced(registrar(components, partitions)), Named.as("registrar"));

        // The registrar names the sink of each record it forwards.
        for (OutputTopic output : List.of(OutputTopic.IDENTITIES, OutputTopic.DOCUMENTS, OutputTopic.REJECTIONS)) {
            outputs.to(output.topic(), produced(output.node()));
        }
        outputs.repartition(Repartitioned.<byte[], byte[]>as(CLAIMS_TOPIC)
                        .withKeySerde(Serdes.ByteArray())
                        .withValueSerde(Serdes.ByteArray())
                        .withNumberOfPartitions(partitions))
                .process(CommitPacing.paced(clerk(components.skipped())), Named.as("clerk"))
                .to(Topics.GRANTS, produced("grants-sink"));
        return builder.build();
    }

    private static ProcessorSupplier<byte[], byte[], byte[], byte[]> registrar(Components components, int partitions) {
        return new ProcessorSupplier<>() {
            @Override
            public Processor<byte[], byte[], byte[], byte[]> get() {
                return new Registrar(
                        new EventParser(components.schemas()),
                        components.collections(),
                        components.encoder(),
                        components.taskCounts(),
                        components.skipped(),
                        partitions);
            }

            @Override
            public Set<StoreBuilder<?>> stores() {
                // Every event writes the one key of the counts; the cache reduces that to one changelog record per
                // commit.
                return Set.of(
                        onDisk(REGISTRATIONS_STORE),
                        onDisk(TEXTS_STORE),
                        onDisk(PARKED_STORE),
                        inMemory(COUNTS_STORE).withCachingEnabled());
            }
        };
    }

    private static ProcessorSupplier<byte[], byte[], byte[], byte[]> clerk(SkippedRecords skipped) {
        return new ProcessorSupplier<>() {
            @Override
            public Processor<byte[], byte[], byte[], byte[]> get() {
                return new Clerk(skipped);
            }

            @Override
            public Set<StoreBuilder<?>> stores() {
                return Set.of(onDisk(HANDLES_STORE));
            }
        };
    }

    private static StoreBuilder<KeyValueStore<byte[], byte[]>> onDisk(String name) {
        return Stores.keyValueStoreBuilder(
                Stores.persistentKeyValueStore(name), Serdes.ByteArray(), Serdes.ByteArray());
    }

    private static StoreBuilder<KeyValueStore<byte[], byte[]>> inMemory(String name) {
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
            TaskCounts taskCounts,
            SkippedRecords skipped) {}
}

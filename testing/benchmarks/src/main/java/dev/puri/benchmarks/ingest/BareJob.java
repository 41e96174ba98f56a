package dev.puri.benchmarks.ingest;

import dev.puri.benchmarks.data.Population;
import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.registry.StreamsProperties;
import dev.puri.registry.StreamsSettings;
import dev.puri.schemas.log.Topics;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.streams.AutoOffsetReset;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.WallclockTimestampExtractor;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import org.jspecify.annotations.Nullable;

/**
 * The baseline: a Kafka Streams job with exactly-once processing. For a creation with a handle, it writes as many
 * records and bytes as the registry's topology, over the same hops and stores, but it makes no decisions.
 *
 * <pre>
 * puri.events.v1 ──▶ registrar ──▶ claims, by handle ──▶ clerk ──▶ puri.grants.v1 ──▶ registrar ──▶ puri.identities.v1
 *                    get  registrations                  put if absent                delete parked
 *                    put  parked                              handles                 put    registrations
 *                    put  tally, cached                                               put    tally, cached
 * </pre>
 *
 * Keys have the length and the distribution of the topology's keys; values are constants of the same length. Nothing is
 * decoded. The job reads from its stores only what every registrar needs: whether the pURI and the handle are known,
 * and the parked event.
 */
final class BareJob {
    static final String APPLICATION_ID = "bare";
    static final String CLAIMS = "bare-claims";

    /** The configuration of a repartition topic that Kafka Streams creates. */
    static final Map<String, String> CLAIMS_CONFIGS = Map.of(
            TopicConfig.CLEANUP_POLICY_CONFIG, "delete",
            TopicConfig.SEGMENT_BYTES_CONFIG, "52428800",
            TopicConfig.RETENTION_MS_CONFIG, "-1");

    private static final Serializer<byte[]> WRITE = new ByteArraySerializer();
    private static final Deserializer<byte[]> READ = new ByteArrayDeserializer();

    private BareJob() {}

    /** The sizes of the topology's records in each topic and store. */
    record Sizes(
            RecordSizes identity,
            RecordSizes claim,
            RecordSizes grant,
            RecordSizes registration,
            RecordSizes parked,
            RecordSizes handle,
            RecordSizes tally) {

        /** Reads the sizes from the topics that the topology with an application id has filled. */
        static Sizes read(FreshBroker broker, String applicationId) throws IOException {
            String prefix = applicationId + '-';
            return new Sizes(
                    RecordSizes.of(broker, Topics.IDENTITIES),
                    RecordSizes.of(broker, prefix + "claims-repartition"),
                    RecordSizes.of(broker, Topics.GRANTS),
                    RecordSizes.of(broker, prefix + "registrations-changelog"),
                    RecordSizes.of(broker, prefix + "parked-changelog"),
                    RecordSizes.of(broker, prefix + "handles-changelog"),
                    RecordSizes.of(broker, prefix + "tally-changelog"));
        }
    }

    /**
     * The sizes of the records of a topic, read after a run of the topology. The baseline writes records of these
     * sizes, so it writes as many bytes as the topology even if the formats of the records change.
     *
     * @param key median number of bytes of a key
     * @param value median number of bytes of a value; tombstones do not count
     * @param headers number of bytes of the value of each header, by name, in one record
     */
    record RecordSizes(int key, int value, Map<String, Integer> headers) {
        private static final int SAMPLE_SIZE = 500;

        /**
         * Reads a sample of a topic.
         *
         * @throws IllegalStateException if the topic has no records
         */
        static RecordSizes of(FreshBroker broker, String topic) throws IOException {
            List<ConsumerRecord<byte[], byte[]>> sample = broker.sample(topic, SAMPLE_SIZE);
            Map<String, Integer> headers = new LinkedHashMap<>();
            for (Header header : sample.getLast().headers()) {
                headers.put(header.key(), header.value().length);
            }
            return new RecordSizes(
                    median(sample.stream().map(record -> record.key().length).toList()),
                    median(sample.stream().map(record -> record.value().length).toList()),
                    headers);
        }

        private static int median(List<Integer> sizes) {
            return sizes.stream().sorted().toList().get(sizes.size() / 2);
        }
    }

    static Topology topology(Sizes sizes) {
        WallclockTimestampExtractor clock = new WallclockTimestampExtractor();
        return new Topology()
                .addSource(AutoOffsetReset.earliest(), "events", clock, READ, READ, Topics.EVENTS)
                .addSource(AutoOffsetReset.earliest(), "grants", clock, READ, READ, Topics.GRANTS)
                .addProcessor("registrar", () -> new Registrar(sizes), "events", "grants")
                .addStateStore(store(Stores.persistentKeyValueStore("registrations")), "registrar")
                .addStateStore(store(Stores.persistentKeyValueStore("parked")), "registrar")
                .addStateStore(store(Stores.inMemoryKeyValueStore("tally")).withCachingEnabled(), "registrar")
                .addSink("identities", Topics.IDENTITIES, WRITE, WRITE, "registrar")
                .addSink("ask", CLAIMS, WRITE, WRITE, "registrar")
                .addSource(AutoOffsetReset.earliest(), "claims", clock, READ, READ, CLAIMS)
                .addProcessor("clerk", () -> new Clerk(sizes), "claims")
                .addStateStore(store(Stores.persistentKeyValueStore("handles")), "clerk")
                .addSink("answer", Topics.GRANTS, WRITE, WRITE, "clerk");
    }

    private static StoreBuilder<KeyValueStore<byte[], byte[]>> store(KeyValueBytesStoreSupplier supplier) {
        return Stores.keyValueStoreBuilder(supplier, Serdes.ByteArray(), Serdes.ByteArray());
    }

    /** Returns the tuning of the topology, with another application id. */
    static Properties properties(StreamsSettings settings) {
        Properties properties = StreamsProperties.tuning(settings);
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, APPLICATION_ID);
        properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, settings.bootstrapServer());
        properties.put(
                StreamsConfig.STATE_DIR_CONFIG, settings.streamsStateDir().toString());
        properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        properties.put(StreamsConfig.consumerPrefix(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG), "earliest");
        return properties;
    }

    private static final class Registrar implements Processor<byte[], byte[], byte[], byte[]> {
        private static final int SEQUENCE_LENGTH = Long.BYTES + 1;

        private final byte[] row;
        private final RecordHeaders headers = new RecordHeaders();
        private final int claimLength;
        private final int registrationKeyLength;
        private final byte[] registration;
        private final byte[] parkedEvent;
        private final byte[] tally;
        private final byte[] tallyKey;

        private @Nullable Task task;

        Registrar(Sizes sizes) {
            row = new byte[sizes.identity().value()];
            sizes.identity().headers().forEach((name, length) -> headers.add(name, new byte[length]));
            claimLength = sizes.claim().value();
            registrationKeyLength = sizes.registration().key();
            registration = new byte[sizes.registration().value()];
            parkedEvent = new byte[sizes.parked().value()];
            tally = new byte[sizes.tally().value()];
            tallyKey = new byte[sizes.tally().key()];
        }

        private record Task(
                ProcessorContext<byte[], byte[]> context,
                KeyValueStore<byte[], byte[]> registrations,
                KeyValueStore<byte[], byte[]> parked,
                KeyValueStore<byte[], byte[]> tally) {}

        @Override
        public void init(ProcessorContext<byte[], byte[]> context) {
            task = new Task(
                    context,
                    context.getStateStore("registrations"),
                    context.getStateStore("parked"),
                    context.getStateStore("tally"));
        }

        @Override
        public void process(Record<byte[], byte[]> record) {
            Task task = Objects.requireNonNull(this.task);
            byte[] puri = record.key();
            byte[] parkedKey =
                    ByteBuffer.allocate(puri.length + SEQUENCE_LENGTH).put(puri).array();
            byte[] key = scatteredKey(puri, registrationKeyLength);
            long now = task.context.currentSystemTimeMs();
            boolean isGrant =
                    task.context.recordMetadata().orElseThrow().topic().equals(Topics.GRANTS);
            if (isGrant) {
                if (task.parked.delete(parkedKey) == null) {
                    throw new IllegalStateException("a grant without a parked event");
                }
                task.registrations.put(key, registration);
                task.context.forward(new Record<>(puri, row, now, new RecordHeaders(headers)), "identities");
            } else {
                if (task.registrations.get(key) != null) {
                    throw new IllegalStateException("an identity was created twice");
                }
                task.parked.put(parkedKey, parkedEvent);
                byte[] claim = ByteBuffer.allocate(claimLength)
                        .put(claimLength - puri.length, puri)
                        .array();
                // All handles have one prefix, as those of a collection, so that each look-up in the store needs a
                // filter.
                byte[] handle = Population.handleBytes(hash(puri));
                task.context.forward(new Record<>(handle, claim, now, new RecordHeaders()), "ask");
            }
            task.tally.put(tallyKey, tally);
        }
    }

    private static final class Clerk implements Processor<byte[], byte[], byte[], byte[]> {
        private final byte[] grant;
        private final byte[] holder;
        private final int puriLength;
        private @Nullable ProcessorContext<byte[], byte[]> context;
        private @Nullable KeyValueStore<byte[], byte[]> holders;

        Clerk(Sizes sizes) {
            grant = new byte[sizes.grant().value()];
            holder = new byte[sizes.handle().value()];
            puriLength = sizes.grant().key();
        }

        @Override
        public void init(ProcessorContext<byte[], byte[]> context) {
            this.context = context;
            this.holders = context.getStateStore("handles");
        }

        @Override
        public void process(Record<byte[], byte[]> claim) {
            ProcessorContext<byte[], byte[]> context = Objects.requireNonNull(this.context);
            if (Objects.requireNonNull(holders).putIfAbsent(claim.key(), holder) != null) {
                throw new IllegalStateException("a handle was claimed twice");
            }
            byte[] puri = new byte[puriLength];
            System.arraycopy(claim.value(), claim.value().length - puriLength, puri, 0, puriLength);
            context.forward(new Record<>(puri, grant, context.currentSystemTimeMs(), new RecordHeaders()));
        }
    }

    /** Returns a key with this length, which is a hash of the text; keys spread evenly over the key space. */
    private static byte[] scatteredKey(byte[] text, int length) {
        ByteBuffer key = ByteBuffer.allocate(length);
        for (long word = Population.mixed(hash(text)); key.remaining() >= Long.BYTES; word = Population.mixed(word)) {
            key.putLong(word);
        }
        return key.array();
    }

    private static long hash(byte[] text) {
        long hash = 0;
        for (byte b : text) {
            hash = 31 * hash + b;
        }
        return hash;
    }
}

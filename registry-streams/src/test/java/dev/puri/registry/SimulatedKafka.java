package dev.puri.registry;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.api.MockProcessorContext;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;
import org.jspecify.annotations.Nullable;

/**
 * Simulates Kafka with lists: topics, and tasks that read them, write to them in transactions, and lose everything
 * since their last commit in a crash. The processors are the real ones. Everything happens in one thread, in an order
 * that the test's random numbers determine.
 */
final class SimulatedKafka {
    static final String REPARTITIONED_EVENTS = "app-intake-repartition";
    static final String CLAIMS = "app-claims-repartition";

    /** One record in a partition. */
    record Entry(byte @Nullable [] key, byte @Nullable [] value, Headers headers) {
        /** Returns the text of a header that the record has. */
        String header(String name) {
            return new String(headers.lastHeader(name).value(), StandardCharsets.UTF_8);
        }
    }

    /** A topic's partitions. */
    private final Map<String, List<List<Entry>>> topics = new TreeMap<>();

    private final List<Task> tasks = new ArrayList<>();
    private long now = 1_800_000_000_000L;

    void createTopic(String name, int partitions) {
        List<List<Entry>> logs = new ArrayList<>();
        for (int i = 0; i < partitions; i++) {
            logs.add(new ArrayList<>());
        }
        topics.put(name, logs);
    }

    List<Entry> log(String topic, int partition) {
        return topics.get(topic).get(partition);
    }

    /** Returns the records of all partitions, one partition after the other. */
    List<Entry> records(String topic) {
        return topics.get(topic).stream().flatMap(List::stream).toList();
    }

    /** Returns the records of all partitions but the digests, which have no position. */
    List<Entry> answers(String topic) {
        return records(topic).stream()
                .filter(entry -> !DigestedPartition.isDigest(entry.headers()))
                .toList();
    }

    int partitions(String topic) {
        return topics.get(topic).size();
    }

    /** Appends a record to the partition of Kafka's default partitioner; a record without a key goes to partition 0. */
    void append(String topic, byte @Nullable [] key, byte @Nullable [] value, Headers headers) {
        if (key == null && (topic.equals(REPARTITIONED_EVENTS) || topic.equals(CLAIMS))) {
            throw new AssertionError("Kafka Streams drops records without a key before it repartitions");
        }
        int partition = key == null ? 0 : BuiltInPartitioner.partitionForKey(key, partitions(topic));
        log(topic, partition).add(new Entry(key, value, headers));
    }

    List<Task> tasks() {
        return tasks;
    }

    void passTime(long millis) {
        now += millis;
    }

    Task addTask(
            String name,
            int partition,
            List<String> sources,
            List<String> stores,
            Supplier<Processor<byte[], byte[], byte[], byte[]>> processor,
            Route route) {
        Task task = new Task(name, partition, sources, stores, processor, route);
        tasks.add(task);
        return task;
    }

    /** Maps a task's output to topics. */
    interface Route {
        /**
         * @param node that the record was forwarded to; null for all
         */
        String topic(@Nullable String node);

        static Route to(String topic) {
            return node -> topic;
        }

        /** The registrar's outputs to their topics. */
        static Route ofOutputs() {
            return node -> {
                for (OutputTopic output : OutputTopic.values()) {
                    if (output.node().equals(node)) {
                        return output == OutputTopic.CLAIMS ? CLAIMS : output.topic();
                    }
                }
                throw new AssertionError("no sink is named " + node);
            };
        }
    }

    /** A stream task: a processor, its stores, its offsets in the source topics, and an open transaction. */
    final class Task {
        private final String name;
        private final int partition;
        private final List<String> sources;
        private final List<String> storeNames;
        private final Supplier<Processor<byte[], byte[], byte[], byte[]>> supplier;
        private final Route route;

        private Map<String, Map<String, byte[]>> committedStores = new HashMap<>();
        private Map<String, Integer> committedPlaces = new HashMap<>();
        private final List<List<String>> committedReads = new ArrayList<>();

        private final Map<String, KeyValueStore<byte[], byte[]>> stores = new HashMap<>();
        private final Map<String, Integer> places = new HashMap<>();
        private final List<String> reads = new ArrayList<>();
        private MockProcessorContext<byte[], byte[]> context;
        private Processor<byte[], byte[], byte[], byte[]> processor;

        Task(
                String name,
                int partition,
                List<String> sources,
                List<String> storeNames,
                Supplier<Processor<byte[], byte[], byte[], byte[]>> supplier,
                Route route) {
            this.name = name;
            this.partition = partition;
            this.sources = sources;
            this.storeNames = storeNames;
            this.supplier = supplier;
            this.route = route;
            this.context = newContext();
            this.processor = supplier.get();
            open();
        }

        private MockProcessorContext<byte[], byte[]> newContext() {
            Properties config = new Properties();
            config.put(StreamsConfig.APPLICATION_ID_CONFIG, "app");
            config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "nowhere:0");
            return new MockProcessorContext<>(config, new TaskId(0, partition), new File("/nonexistent"));
        }

        private void open() {
            context.setCurrentSystemTimeMs(now);
            context.setCurrentStreamTimeMs(now);
            stores.clear();
            for (String storeName : storeNames) {
                KeyValueStore<byte[], byte[]> store = Stores.keyValueStoreBuilder(
                                Stores.inMemoryKeyValueStore(storeName), Serdes.ByteArray(), Serdes.ByteArray())
                        .withLoggingDisabled()
                        .build();
                store.init(context.getStateStoreContext(), store);
                context.addStateStore(store);
                committedStores.getOrDefault(storeName, Map.of()).forEach((key, value) -> store.put(hex(key), value));
                stores.put(storeName, store);
            }
            places.clear();
            places.putAll(committedPlaces);
            reads.clear();
            processor.init(context);
        }

        /** Reads one record of a source; returns false if there is none. */
        boolean read(String source) {
            if (partition >= partitions(source)) {
                return false;
            }
            int place = places.getOrDefault(source, 0);
            List<Entry> log = log(source, partition);
            if (place == log.size()) {
                return false;
            }
            Entry entry = log.get(place);
            places.put(source, place + 1);
            reads.add(source + '/' + place);
            context.setCurrentSystemTimeMs(now);
            context.setRecordMetadata(source, partition, place);
            processor.process(new Record<>(entry.key(), entry.value(), now, entry.headers()));
            return true;
        }

        List<String> sources() {
            return sources;
        }

        void tick() {
            context.setCurrentSystemTimeMs(now);
            context.scheduledPunctuators().stream()
                    .filter(scheduled -> !scheduled.cancelled())
                    .toList()
                    .forEach(scheduled -> scheduled.getPunctuator().punctuate(now));
        }

        void commit() {
            for (var forwarded : context.forwarded()) {
                Record<? extends byte[], ? extends byte[]> record = forwarded.record();
                String topic = route.topic(forwarded.childName().orElse(null));
                append(topic, record.key(), record.value(), record.headers());
            }
            context.resetForwards();
            Map<String, Map<String, byte[]>> snapshot = new HashMap<>();
            stores.forEach((storeName, store) -> {
                Map<String, byte[]> content = new HashMap<>();
                try (KeyValueIterator<byte[], byte[]> all = store.all()) {
                    while (all.hasNext()) {
                        KeyValue<byte[], byte[]> entry = all.next();
                        content.put(HexFormat.of().formatHex(entry.key), entry.value);
                    }
                }
                snapshot.put(storeName, content);
            });
            committedStores = snapshot;
            committedPlaces = new HashMap<>(places);
            committedReads.add(List.copyOf(reads));
            reads.clear();
        }

        /** Simulates that the process dies and another process takes over. */
        void crash() {
            context = newContext();
            processor = supplier.get();
            open();
        }

        /** Simulates that Kafka Streams revives the task: the same processor, with its old punctuations. */
        void revive() {
            context.resetForwards();
            processor.close();
            open();
        }

        /** The committed reads, {@code topic/offset}, in order. */
        List<String> reads() {
            return committedReads.stream().flatMap(List::stream).toList();
        }

        int partition() {
            return partition;
        }

        @Override
        public String toString() {
            return name + '-' + partition;
        }

        private static byte[] hex(String text) {
            return HexFormat.of().parseHex(text);
        }
    }

    static Headers noHeaders() {
        return new RecordHeaders();
    }
}

package dev.puri.benchmarks.table;

import dev.puri.benchmarks.environment.FreshBroker;
import dev.puri.benchmarks.report.Timing;
import dev.puri.resolver.feed.StreamsTableFeeder;
import dev.puri.resolver.table.Identity;
import dev.puri.schemas.log.Topics;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.function.Function;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;
import org.apache.kafka.streams.state.RocksDBConfigSetter;
import org.apache.kafka.streams.state.Stores;
import org.jspecify.annotations.Nullable;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;

/** A global store of Kafka Streams, with the consumer settings of the identity table. */
enum GlobalStore {
    /** Decodes each record before it puts the record's bytes into RocksDB. */
    ROCKSDB_DECODING(
            "global store RocksDB, tuned, each record decoded to a row",
            store -> global(Stores.persistentKeyValueStore(store), () -> new Decoding(true))),
    /** Decodes each record and discards it. */
    NO_OP_DECODING(
            "no-op global store, each record decoded to a row",
            store -> global(Stores.inMemoryKeyValueStore(store), () -> new Decoding(false))),
    ROCKSDB("GlobalKTable RocksDB, tuned, bytes as they are", store -> table(Stores.persistentKeyValueStore(store))),
    /** Keeps nothing, to measure the time of reading the topic alone. */
    NO_OP(
            "no-op global store, bytes as they are",
            store -> global(Stores.inMemoryKeyValueStore(store), Discarding::new)),
    IN_MEMORY("GlobalKTable in-memory store, bytes as they are", store -> table(Stores.inMemoryKeyValueStore(store)));

    private static final String STORE = "rows";

    private final String title;
    private final Function<String, StreamsBuilder> builder;

    GlobalStore(String title, Function<String, StreamsBuilder> builder) {
        this.title = title;
        this.builder = builder;
    }

    /** Returns the name of the baseline in the report. */
    String title() {
        return title;
    }

    /** A store that has all records of the topic, and the time that it took to fill the store. */
    record Filled(KafkaStreams streams, double seconds) implements AutoCloseable {
        ReadOnlyKeyValueStore<byte[], byte[]> store() {
            return streams.store(
                    StoreQueryParameters.fromNameAndType(STORE, QueryableStoreTypes.<byte[], byte[]>keyValueStore()));
        }

        @Override
        public void close() {
            streams.close();
        }
    }

    private static StreamsBuilder global(
            KeyValueBytesStoreSupplier store, ProcessorSupplier<byte[], byte[], Void, Void> processor) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.addGlobalStore(
                Stores.keyValueStoreBuilder(store, Serdes.ByteArray(), Serdes.ByteArray())
                        .withLoggingDisabled(),
                Topics.IDENTITIES,
                Consumed.with(Serdes.ByteArray(), Serdes.ByteArray()),
                processor);
        return builder;
    }

    /**
     * A class, because Kafka Streams refuses a supplier that returns the same object twice, as that of a lambda does.
     */
    private static final class Discarding implements Processor<byte[], byte[], Void, Void> {
        @Override
        public void process(Record<byte[], byte[]> record) {}
    }

    private static final class Decoding implements Processor<byte[], byte[], Void, Void> {
        private final boolean keepsRecords;
        private final RowDecoder decoder = new RowDecoder();
        private @Nullable KeyValueStore<byte[], byte[]> store;

        /** Keeps the JVM from optimising the decoding away. */
        @SuppressWarnings("unused")
        private @Nullable Identity last;

        Decoding(boolean keepsRecords) {
            this.keepsRecords = keepsRecords;
        }

        @Override
        public void init(ProcessorContext<Void, Void> context) {
            store = context.getStateStore(STORE);
        }

        @Override
        public void process(Record<byte[], byte[]> record) {
            last = new Identity(RowDecoder.puri(record.key()), decoder.decode(record.value()));
            if (keepsRecords) {
                Objects.requireNonNull(store).put(record.key(), record.value());
            }
        }
    }

    private static StreamsBuilder table(KeyValueBytesStoreSupplier store) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.globalTable(
                Topics.IDENTITIES,
                Materialized.<byte[], byte[]>as(store)
                        .withKeySerde(Serdes.ByteArray())
                        .withValueSerde(Serdes.ByteArray())
                        .withCachingDisabled());
        return builder;
    }

    /** Starts the store in a folder and fills it from the topic. */
    Filled fill(FreshBroker broker, Path dir) {
        Properties config = new Properties();
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, "bench-table");
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, broker.bootstrapServers());
        config.put(StreamsConfig.STATE_DIR_CONFIG, dir.toString());
        config.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, 0);
        config.put(StreamsConfig.ROCKSDB_CONFIG_SETTER_CLASS_CONFIG, TunedRocksDb.class);
        config.put(StreamsConfig.globalConsumerPrefix("isolation.level"), "read_committed");
        StreamsTableFeeder.CONSUMER.forEach(
                (name, value) -> config.put(StreamsConfig.globalConsumerPrefix(name), value));
        KafkaStreams streams = new KafkaStreams(builder.apply(STORE).build(), config);
        long startNanos = System.nanoTime();
        streams.start();
        return new Filled(streams, Timing.seconds(startNanos));
    }

    /** Gives RocksDB a filter for each file, a cache of half a GiB, and large write buffers. */
    public static final class TunedRocksDb implements RocksDBConfigSetter {
        private static final LRUCache CACHE = new LRUCache(512L << 20);
        private static final BloomFilter FILTER = new BloomFilter(10, false);

        @Override
        public void setConfig(String store, Options options, Map<String, Object> configs) {
            BlockBasedTableConfig tables = (BlockBasedTableConfig) options.tableFormatConfig();
            tables.setBlockCache(CACHE);
            tables.setFilterPolicy(FILTER);
            tables.setCacheIndexAndFilterBlocks(false);
            options.setTableFormatConfig(tables);
            options.setWriteBufferSize(64L << 20);
            options.setMaxWriteBufferNumber(4);
        }

        @Override
        public void close(String store, Options options) {
            // Not closed, because all stores of the run share the cache and the filter.
        }
    }
}

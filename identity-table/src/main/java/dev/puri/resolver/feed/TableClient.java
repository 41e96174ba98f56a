package dev.puri.resolver.feed;

import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.RowBatch;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.tail.RetryPolicy;
import dev.puri.tail.SchemaRegistryWait;
import dev.puri.tail.Stop;
import dev.puri.tail.wait.OutcomeCache;
import dev.puri.tail.wait.Waiters;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.function.Function;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaClientSupplier;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.state.StoreBuilder;
import org.jspecify.annotations.Nullable;

/**
 * A client that fills and feeds one table: a Kafka Streams application that consists of a global store.
 *
 * <pre>
 * puri.identities.v1 ──TrackedConsumer, ReadAhead──▶ global thread ──RowFeed──▶ RowWriter's thread ──▶ PackedTable
 * </pre>
 *
 * Used by one thread, but for {@link #abandon}.
 */
public final class TableClient implements AutoCloseable {
    private static final String APPLICATION = "puri-resolver";
    private static final Duration CLOSE = Duration.ofSeconds(5);

    /** How long to wait between two questions to a schema registry that does not answer. */
    private static final RetryPolicy RETRY_POLICY = new RetryPolicy(Duration.ofMillis(100), Duration.ofSeconds(2));

    /**
     * The consumer's defaults. Kafka Streams restores one partition after the other, and fetches the next part of a
     * partition when the one before is used up. Large parts need fewer round trips to distant brokers. Few records a
     * poll are still in the processor's cache when they are processed. A short wait for new records keeps the long poll
     * of a finished partition from holding the connection for half a second.
     */
    public static final Map<String, String> CONSUMER = Map.of(
            ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, "8388608",
            ConsumerConfig.MAX_POLL_RECORDS_CONFIG, String.valueOf(RowBatch.MOST),
            ConsumerConfig.RECEIVE_BUFFER_CONFIG, "1048576",
            ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, "10");

    private final PackedTable table;
    private final Stop stop = new Stop();
    private final SchemaRegistryWait schemaRegistryWait = new SchemaRegistryWait(RETRY_POLICY, stop);
    private final RowWriter writer;
    private final ConsumerOnly clients = new ConsumerOnly();
    private final KafkaStreams streams;
    private volatile @Nullable Throwable death;

    /**
     * @param table empty or opened from a snapshot; fed from its next offsets
     * @param kafka the user's properties; those that correctness depends on are overridden
     * @param stateDir for the folder of Kafka Streams; clients must not share it
     * @param registry resolves schema ids; not closed
     * @param outcomes receives outcomes that no row shows
     * @param waiters woken when rows change
     * @param undecodable counts records that are no rows
     */
    public TableClient(
            PackedTable table,
            Map<String, String> kafka,
            String bootstrapServers,
            String stateDir,
            SchemaRegistry registry,
            OutcomeCache outcomes,
            Waiters waiters,
            Counter undecodable) {
        this.table = table;
        writer = new RowWriter(table, outcomes, waiters);
        streams = new KafkaStreams(
                topology(registry, outcomes, undecodable), config(kafka, bootstrapServers, stateDir), clients);
        streams.setUncaughtExceptionHandler(cause -> {
            death = cause;
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
    }

    /**
     * Returns a factory of clients of one registry and one cluster, each for another table.
     *
     * @param kafka the user's properties
     * @param stateDir for the folder of Kafka Streams; keepers must not share it
     * @param registry resolves schema ids; not closed
     * @param outcomes receives outcomes that no row shows
     * @param waiters woken when rows change
     */
    public static Function<PackedTable, TableClient> factory(
            Map<String, String> kafka,
            String bootstrapServers,
            String stateDir,
            SchemaRegistry registry,
            OutcomeCache outcomes,
            Waiters waiters,
            MeterRegistry meters) {
        Counter undecodable = Counter.builder("puri.table.undecodable")
                .description("Records of the table's topic that are no identity")
                .register(meters);
        return table ->
                new TableClient(table, kafka, bootstrapServers, stateDir, registry, outcomes, waiters, undecodable);
    }

    static Properties config(Map<String, String> kafka, String bootstrapServers, String stateDir) {
        Properties config = new Properties();
        // Under their plain names, so that the user's properties override them under any name.
        config.putAll(CONSUMER);
        config.putAll(kafka);
        config.putAll(Map.of(
                StreamsConfig.APPLICATION_ID_CONFIG,
                APPLICATION,
                StreamsConfig.BOOTSTRAP_SERVERS_CONFIG,
                bootstrapServers,
                StreamsConfig.STATE_DIR_CONFIG,
                stateDir,
                StreamsConfig.NUM_STREAM_THREADS_CONFIG,
                "0",
                StreamsConfig.globalConsumerPrefix(ConsumerConfig.ISOLATION_LEVEL_CONFIG),
                "read_committed",
                StreamsConfig.globalConsumerPrefix(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG),
                "false"));
        return config;
    }

    private Topology topology(SchemaRegistry registry, OutcomeCache outcomes, Counter undecodable) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.addGlobalStore(
                new ExistingStore(table),
                Topics.IDENTITIES,
                Consumed.with(Serdes.ByteArray(), Serdes.ByteArray()),
                () -> new RowFeed(writer, registry, outcomes, schemaRegistryWait, undecodable));
        return builder.build();
    }

    /** The table that is fed. */
    public PackedTable table() {
        return table;
    }

    /** Why the client waits for the schema registry; null while it does not. */
    @Nullable
    String waitingFor() {
        return schemaRegistryWait.waitingFor();
    }

    /**
     * Fills the table; returns when it has reached the end offsets of the start.
     *
     * @throws RuntimeException when that fails or is abandoned
     */
    public void start() {
        writer.start();
        streams.start();
        writer.await();
    }

    /**
     * Reports changes from now on.
     *
     * @param partitions of the topic
     * @param begin creates the receiver, from the next offset of each partition, on the thread that writes the table
     * @throws IllegalStateException when the table cannot be written any more
     */
    void goLive(int partitions, Function<long[], ? extends RowChanges> begin) {
        writer.goLive(partitions, begin);
    }

    /** Lets a {@link #start} in another thread fail. */
    void abandon() {
        stop.ask();
        writer.stop();
        clients.wakeup();
    }

    boolean isRunning() {
        return streams.state() == KafkaStreams.State.RUNNING && writer.failure() == null;
    }

    /** Why the client does not run any more. */
    String death() {
        Throwable cause = writer.failure() == null ? death : writer.failure();
        if (cause == null) {
            return "Kafka Streams is " + streams.state();
        }
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause.getClass().getSimpleName() + ": " + cause.getMessage();
    }

    /** Stops the client. The table keeps its rows. */
    @Override
    public void close() {
        stop.ask();
        streams.close(CLOSE);
        writer.close();
    }

    /** A global store needs one consumer, and an admin client that Kafka Streams makes in any case. */
    private final class ConsumerOnly implements KafkaClientSupplier {
        private volatile @Nullable TrackedConsumer consumer;

        void wakeup() {
            TrackedConsumer made = consumer;
            if (made != null) {
                made.wakeup();
            }
        }

        @Override
        public Consumer<byte[], byte[]> getGlobalConsumer(Map<String, Object> config) {
            TrackedConsumer made = new TrackedConsumer(
                    config,
                    (partition, offset) -> writer.reached(partition.partition(), offset),
                    offsets -> {
                        // A table from a snapshot has most of its rows already.
                        if (table.rows() == 0) {
                            table.expect(offsets);
                        }
                    },
                    table::removeUnusedWords);
            consumer = made;
            return made;
        }

        @Override
        public Admin getAdmin(Map<String, Object> config) {
            return Admin.create(config);
        }

        @Override
        public Producer<byte[], byte[]> getProducer(Map<String, Object> config) {
            throw new IllegalStateException("nothing is written");
        }

        @Override
        public Consumer<byte[], byte[]> getConsumer(Map<String, Object> config) {
            throw new IllegalStateException("nothing is read but the table's topic");
        }

        @Override
        public Consumer<byte[], byte[]> getRestoreConsumer(Map<String, Object> config) {
            throw new IllegalStateException("a global store is restored by the global consumer");
        }
    }

    /** Passes an existing table to Kafka Streams. */
    private record ExistingStore(PackedTable table) implements StoreBuilder<PackedTable> {
        @Override
        public PackedTable build() {
            return table;
        }

        @Override
        public String name() {
            return PackedTable.NAME;
        }

        @Override
        public boolean loggingEnabled() {
            return false;
        }

        @Override
        public Map<String, String> logConfig() {
            return new HashMap<>();
        }

        @Override
        public StoreBuilder<PackedTable> withCachingEnabled() {
            throw new UnsupportedOperationException();
        }

        @Override
        public StoreBuilder<PackedTable> withCachingDisabled() {
            return this;
        }

        @Override
        public StoreBuilder<PackedTable> withLoggingEnabled(Map<String, String> config) {
            throw new UnsupportedOperationException();
        }

        @Override
        public StoreBuilder<PackedTable> withLoggingDisabled() {
            return this;
        }
    }
}

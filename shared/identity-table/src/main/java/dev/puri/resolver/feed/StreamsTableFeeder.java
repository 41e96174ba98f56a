package dev.puri.resolver.feed;

import dev.puri.projection.DigestCheck;
import dev.puri.projection.RetryPolicy;
import dev.puri.projection.SchemaRegistryWait;
import dev.puri.projection.Stop;
import dev.puri.projection.wait.OutcomeCache;
import dev.puri.projection.wait.Waiters;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.RowBatch;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.SchemaRegistry;
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
 * A Kafka Streams application that fills one table and then keeps it current. Its topology is only a global store.
 *
 * <pre>
 * puri.identities.v1 ──TrackedConsumer, ReadAhead──▶ global thread ──RowFeed──▶ RowWriter's thread ──▶ PackedTable
 * </pre>
 */
public final class StreamsTableFeeder implements TableFeeder {
    private static final String APPLICATION_ID = "puri-resolver";

    /** The maximum time to close Kafka Streams. */
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

    /** The delays between requests to a schema registry that does not respond. */
    private static final RetryPolicy RETRY_POLICY = new RetryPolicy(Duration.ofMillis(100), Duration.ofSeconds(2));

    /**
     * The defaults of the consumer. Kafka Streams restores one partition after the other, and the consumer fetches the
     * next part of a partition when the previous part is used up. Large fetches need fewer round trips to distant
     * brokers. The records of a small poll stay in the CPU cache until they are processed. The broker answers a fetch
     * at the end of a partition only after the maximum wait, by default half a second. This delays the next requests on
     * the same connection, with which the restore of the next partition begins, so the maximum wait is short.
     */
    public static final Map<String, String> CONSUMER = Map.of(
            ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, "8388608",
            ConsumerConfig.MAX_POLL_RECORDS_CONFIG, String.valueOf(RowBatch.MAX_ROWS),
            ConsumerConfig.RECEIVE_BUFFER_CONFIG, "1048576",
            ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, "10");

    private final PackedTable table;
    private final Stop stop = new Stop();
    private final SchemaRegistryWait schemaRegistryWait = new SchemaRegistryWait(RETRY_POLICY, stop);
    private final RowWriter writer;
    private final int partitions;
    private final ClientSupplier clientSupplier = new ClientSupplier();
    private final KafkaStreams streams;
    private volatile @Nullable Throwable streamsFailure;

    /**
     * @param table an empty table, or one opened from a snapshot, which is then fed from the offsets of the snapshot
     * @param digestCheck receives the comparisons of the table's digests with those in the topic
     * @param partitions the number of partitions of the topic
     * @param kafka the user's properties. Properties that correctness depends on are overridden
     * @param stateDir the folder for the state directory of Kafka Streams. Two feeders must not use it at the same time
     * @param registry resolves schema ids. The feeder does not close it
     * @param outcomes receives the outcomes of events that the rows do not show, such as refusals
     * @param waiters woken when rows change
     * @param undecodable counts records that cannot be decoded
     */
    public StreamsTableFeeder(
            PackedTable table,
            DigestCheck digestCheck,
            int partitions,
            Map<String, String> kafka,
            String bootstrapServers,
            String stateDir,
            SchemaRegistry registry,
            OutcomeCache outcomes,
            Waiters waiters,
            Counter undecodable) {
        this.table = table;
        this.partitions = partitions;
        writer = new RowWriter(table, digestCheck, outcomes, waiters);
        streams = new KafkaStreams(
                topology(digestCheck, registry, outcomes, undecodable),
                config(kafka, bootstrapServers, stateDir),
                clientSupplier);
        streams.setUncaughtExceptionHandler(cause -> {
            streamsFailure = cause;
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
    }

    /**
     * Returns a factory that creates a feeder for a table.
     *
     * @param kafka the user's properties
     * @param stateDir the folder for the state directory of Kafka Streams. Two feeders must not use it at the same time
     * @param registry resolves schema ids. Feeders do not close it
     * @param outcomes receives the outcomes of events that the rows do not show, such as refusals
     * @param waiters woken when rows change
     */
    public static TableFeeder.Factory factory(
            Map<String, String> kafka,
            String bootstrapServers,
            String stateDir,
            SchemaRegistry registry,
            OutcomeCache outcomes,
            Waiters waiters,
            MeterRegistry meters) {
        Counter undecodable = Counter.builder("puri.table.undecodable")
                .description("Records of the table's topic that were skipped: they cannot be decoded, or are in another"
                        + " partition than their pURI")
                .register(meters);
        return (table, digestCheck, partitions) -> new StreamsTableFeeder(
                table,
                digestCheck,
                partitions,
                kafka,
                bootstrapServers,
                stateDir,
                registry,
                outcomes,
                waiters,
                undecodable);
    }

    static Properties config(Map<String, String> kafka, String bootstrapServers, String stateDir) {
        Properties config = new Properties();
        // The defaults have no prefix, so a property of the user overrides them with a consumer prefix or without one.
        config.putAll(CONSUMER);
        config.putAll(kafka);
        config.putAll(Map.of(
                StreamsConfig.APPLICATION_ID_CONFIG,
                APPLICATION_ID,
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

    private Topology topology(
            DigestCheck digestCheck, SchemaRegistry registry, OutcomeCache outcomes, Counter undecodable) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.addGlobalStore(
                new ExistingStore(table),
                Topics.IDENTITIES,
                Consumed.with(Serdes.ByteArray(), Serdes.ByteArray()),
                () -> new RowFeed(
                        writer, digestCheck, registry, outcomes, schemaRegistryWait, undecodable, partitions));
        return builder.build();
    }

    @Override
    public PackedTable table() {
        return table;
    }

    @Override
    public @Nullable String schemaRegistryProblem() {
        return schemaRegistryWait.lastError();
    }

    @Override
    public void start() {
        writer.start();
        streams.start();
        writer.await();
    }

    @Override
    public void reportChanges(Function<long[], ? extends RowChanges> createReceiver) {
        writer.reportChanges(partitions, createReceiver);
    }

    @Override
    public void abandon() {
        stop.request();
        writer.stop();
        clientSupplier.wakeup();
    }

    @Override
    public boolean isRunning() {
        return streams.state() == KafkaStreams.State.RUNNING && writer.failure() == null;
    }

    @Override
    public String stopReason() {
        Throwable cause = writer.failure() == null ? streamsFailure : writer.failure();
        if (cause == null) {
            return "Kafka Streams is " + streams.state();
        }
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause.getClass().getSimpleName() + ": " + cause.getMessage();
    }

    @Override
    public void close() {
        stop.request();
        streams.close(CLOSE_TIMEOUT);
        writer.close();
    }

    /** Creates the clients that a global store needs: the global consumer, and the admin client of Kafka Streams. */
    private final class ClientSupplier implements KafkaClientSupplier {
        private volatile @Nullable TrackedConsumer consumer;

        void wakeup() {
            TrackedConsumer created = consumer;
            if (created != null) {
                created.wakeup();
            }
        }

        @Override
        public Consumer<byte[], byte[]> getGlobalConsumer(Map<String, Object> config) {
            TrackedConsumer created = new TrackedConsumer(
                    config,
                    (partition, offset) -> writer.handOverUpTo(partition.partition(), offset),
                    offsetsToRead -> {
                        // The table grows in advance. A table from a snapshot already has most of its final size.
                        if (table.rows() == 0) {
                            table.setOffsetsToRead(offsetsToRead);
                        }
                    },
                    // Runs on the global thread, which is the packer of the table's dictionaries.
                    table::removeUnusedWords);
            consumer = created;
            return created;
        }

        @Override
        public Admin getAdmin(Map<String, Object> config) {
            return Admin.create(config);
        }

        @Override
        public Producer<byte[], byte[]> getProducer(Map<String, Object> config) {
            throw new IllegalStateException("a global store needs no producer");
        }

        @Override
        public Consumer<byte[], byte[]> getConsumer(Map<String, Object> config) {
            throw new IllegalStateException("a global store needs only the global consumer");
        }

        @Override
        public Consumer<byte[], byte[]> getRestoreConsumer(Map<String, Object> config) {
            throw new IllegalStateException("the global consumer restores a global store");
        }
    }

    /** The store builder that Kafka Streams requires. It returns the existing table. */
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

package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.puri.http.HttpSettings;
import dev.puri.http.PublicSettings;
import dev.puri.resolver.feed.Snapshots;
import dev.puri.resolver.feed.StreamsTableFeeder;
import dev.puri.resolver.feed.TableFeeder;
import dev.puri.resolver.feed.TableKeeper;
import dev.puri.resolver.live.ChangeRing;
import dev.puri.resolver.live.ChangesOptions;
import dev.puri.resolver.live.Subscribers;
import dev.puri.resolver.table.PackedTable;
import dev.puri.resolver.table.Table;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import dev.puri.schemas.serde.RecordWriter;
import dev.puri.settings.KafkaProperties;
import dev.puri.tail.PlainConsumers;
import dev.puri.tail.TopicAdmin;
import dev.puri.tail.wait.OutcomeCache;
import dev.puri.tail.wait.Waiters;
import dev.puri.testkit.Broker;
import dev.puri.testkit.Contract;
import dev.puri.testkit.HangingTransaction;
import dev.puri.testkit.RestartableBroker;
import dev.puri.testkit.RestartableSchemaRegistry;
import dev.puri.testkit.SchemaRegistryFixture;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.ref.WeakReference;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.zip.CRC32C;
import org.apache.avro.Schema;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The resolver on a real broker and a real schema registry, its topic written as the topology writes it. */
@Timeout(180)
final class ResolverIT {
    private static final int PARTITIONS = 3;
    private static final String TRACK = "soundcloud:tracks:1";
    private static final String HANDLE = "trk_4k7vx9tz2nqr8w3";

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static final Contract CONTRACT = new Contract(HTTP, "/openapi.json");
    private static final RecordWriter<IdentityRow> WRITER = RecordWriter.of(IdentityRow.class);

    private static RestartableBroker broker;
    private static RestartableSchemaRegistry registry;
    private static Admin admin;
    private static KafkaProducer<byte[], byte[]> producer;
    private static int schemaId;
    private static int otherSchemaId;

    private @Nullable Resolver resolver;

    @BeforeAll
    static void startBroker() {
        broker = Broker.start();
        registry = SchemaRegistryFixture.start();
        admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()));
        Properties config = new Properties();
        config.put("bootstrap.servers", broker.bootstrapServers());
        config.put("transactional.id", "topology");
        config.put("linger.ms", "0");
        producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
        producer.initTransactions();
        try (ConfluentSchemaRegistry schemas =
                ConfluentSchemaRegistry.create(Map.of("schema.registry.url", registry.url()))) {
            schemaId = schemas.register(Topics.IDENTITIES + "-value", WRITER.schema());
            String other = WRITER.schema().toString().replaceFirst("\"doc\":\"[^\"]*\"", "\"doc\":\"another\"");
            otherSchemaId = schemas.register("other-value", new Schema.Parser().parse(other));
        }
    }

    @AfterAll
    static void stopBroker() {
        producer.close();
        admin.close();
        registry.close();
        broker.close();
        HTTP.close();
    }

    @BeforeEach
    void createTopic() throws Exception {
        admin.createTopics(List.of(new NewTopic(Topics.IDENTITIES, PARTITIONS, (short) 1)
                        .configs(Map.of("cleanup.policy", "compact,delete"))))
                .all()
                .get();
    }

    @AfterEach
    void deleteTopic() throws Exception {
        if (resolver != null) {
            resolver.close();
        }
        deleteTopicIfThere();
    }

    @Test
    void answersFromExistingAndLaterRecords() {
        write(row(TRACK, Rows.active("br-1", HANDLE)), row("soundcloud:tracks:2", Rows.active("br-2")));
        startReady();

        assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-1");
        assertThat(get(HANDLE).at("/puri").asText()).isEqualTo(TRACK);
        assertThat(get("soundcloud:tracks:3").at("/verdict").asText()).isEqualTo("unknown");
        CompletableFuture<HttpResponse<String>> changes = CONTRACT.sendAsync(request("/v1/changes"));
        await().untilAsserted(() -> assertThat(send("/metrics").body()).contains("puri_changes_streams 1.0"));

        write(row("soundcloud:tracks:3", Rows.active("br-3")), tombstone("soundcloud:tracks:2"));

        awaitVerdict("soundcloud:tracks:3", "found");
        awaitVerdict("soundcloud:tracks:2", "unknown");
        await().untilAsserted(() -> assertThat(send("/metrics").body()).contains("puri_changes_sent_total 2.0"));
        requireResolver().close();
        assertThat(changes.join().body())
                .contains("event: changed\ndata: {\"puri\":\"soundcloud:tracks:3\"")
                .contains("event: erased\ndata: {\"puri\":\"soundcloud:tracks:2\"}");
    }

    @Test
    void answersNothingBeforeTheTableIsComplete() throws Exception {
        deleteTopicIfThere();
        start();

        HttpResponse<String> early = send("/v1/identities/" + TRACK);
        assertThat(early.statusCode()).isEqualTo(503);
        assertThat(early.headers().firstValue("Retry-After")).contains("1");
        assertThat(early.body()).contains("https://puri.dev/problems/not-ready");
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() ->
                        assertThat(send("/health/ready").body()).contains("there is no topic puri.identities.v1 yet"));
        assertThat(send("/health/started").statusCode()).isEqualTo(503);
        assertThat(send("/health/live").statusCode()).isEqualTo(200);

        createTopic();
        write(row(TRACK, Rows.active("br-1")));

        awaitReady();
        awaitVerdict(TRACK, "found");
        assertThat(send("/health/started").statusCode()).isEqualTo(200);
    }

    @Test
    void isReadyOnAnEmptyTopic() {
        startReady();

        assertThat(get(TRACK).at("/verdict").asText()).isEqualTo("unknown");
        assertThat(json("/health/ready").at("/checks/0/data/behind").asLong(-1)).isZero();
    }

    @Test
    void abortedRowsAreInvisibleAndMarkersAreNotLag() {
        write(row(TRACK, Rows.active("br-1")));
        producer.beginTransaction();
        producer.send(row(TRACK, Rows.active("br-9")));
        producer.flush();
        producer.abortTransaction();
        startReady();

        assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-1");
        JsonNode ready = json("/health/ready").at("/checks/0/data");
        assertThat(ready.at("/behind").asLong(-1)).isZero();
        assertThat(ready.at("/end").asLong()).isEqualTo(4);

        write(row("soundcloud:tracks:2", Rows.active("br-1")));
        awaitVerdict("soundcloud:tracks:2", "found");
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(json("/health/ready")
                                .at("/checks/0/data/reached")
                                .asLong())
                        .isEqualTo(6));
    }

    @Test
    void recordsThatDoNotDecodeAreCountedAndKeptOut() {
        write(
                row(TRACK, Rows.active("br-1")),
                new ProducerRecord<>(Topics.IDENTITIES, bytes(TRACK), bytes("no avro")),
                new ProducerRecord<>(Topics.IDENTITIES, bytes("not a pURI"), null),
                new ProducerRecord<>(Topics.IDENTITIES, bytes("SoundCloud:tracks:1"), avro(Rows.active("br-9"))),
                new ProducerRecord<>(Topics.IDENTITIES, bytes("a:b:c"), new byte[] {0, 0x7f, 0, 0, 0, 1, 2}),
                new ProducerRecord<>(Topics.IDENTITIES, new byte[] {(byte) 0xff}, avro(Rows.active("br-9"))));
        startReady();
        write(
                new ProducerRecord<>(Topics.IDENTITIES, bytes(TRACK), bytes("no avro")),
                row("soundcloud:tracks:2", Rows.active("br-2")));

        awaitVerdict("soundcloud:tracks:2", "found");
        assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-1");
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(send("/metrics").body()).contains("puri_table_undecodable_total 6.0"));
        assertThat(send("/health/ready").statusCode()).isEqualTo(200);
    }

    @Test
    void aRestartFindsTheSameTable() {
        write(row(TRACK, Rows.active("br-1", HANDLE)));
        startReady();
        write(row(TRACK, Rows.active("br-2", HANDLE)), row("a:b:c", Rows.active("br-1")), tombstone("a:b:c"));
        awaitVerdict(TRACK, "found");
        requireResolver().close();

        startReady();

        assertThat(get(HANDLE).at("/shard").asText()).isEqualTo("br-2");
        assertThat(get("a:b:c").at("/verdict").asText()).isEqualTo("unknown");
        assertThat(send("/metrics").body()).contains("puri_table_rows 1.0");
    }

    @Test
    void refillsFromARecreatedTopicWhileTheOldTableServes() throws Exception {
        write(row(TRACK, Rows.active("br-1")), row("a:b:old", Rows.active("br-1")));
        startReady();

        deleteTopicIfThere();
        createTopic();
        assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-1");
        write(row(TRACK, Rows.active("br-2")));

        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(
                        () -> assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-2"));
        awaitReady();
        assertThat(get("a:b:old").at("/verdict").asText()).isEqualTo("unknown");
        assertThat(send("/metrics").body()).contains("puri_table_rebuilds_total 1.0");
    }

    @Test
    void aDeadGlobalThreadIsUnreadyAndIsReplaced() throws Exception {
        write(at0(TRACK, avro(Rows.active("br-1"))));
        startReady();
        // While the reader waits for a schema, its next records are deleted.
        registry.stop();
        write(at0("a:b:c", WRITER.encode(otherSchemaId, RowAvro.toAvro(Rows.active("br-1")))));
        try {
            awaitUnready("waiting for the schema registry");
            write(at0("a:b:d", avro(Rows.active("br-1"))));
            write(at0("a:b:e", avro(Rows.active("br-1"))));
            TopicPartition partition = new TopicPartition(Topics.IDENTITIES, 0);
            admin.deleteRecords(Map.of(partition, RecordsToDelete.beforeOffset(-1)))
                    .all()
                    .get();
            assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-1");
        } finally {
            registry.start();
        }
        write(at0(TRACK, avro(Rows.active("br-2"))));

        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(
                        () -> assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-2"));
        awaitReady();
        assertThat(get("a:b:c").at("/verdict").asText()).isEqualTo("unknown");
        assertThat(send("/metrics").body()).contains("puri_table_rebuilds_total 1.0");
    }

    @Test
    void unreachableBrokersMakeTheServerUnreadyWhileTheTableAnswers() {
        write(row(TRACK, Rows.active("br-1")));
        startReady();

        assertThat(lag()).isEmpty();
        broker.stop();
        try {
            awaitUnready("no broker answers");
            assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-1");
            await().atMost(Duration.ofSeconds(30)).until(() -> lag().isPresent());
            assertThat(Integer.parseInt(lag().orElseThrow())).isBetween(5, 60);
        } finally {
            broker.start();
        }

        awaitReady();
        await().atMost(Duration.ofSeconds(30)).until(() -> lag().isEmpty());
        write(row(TRACK, Rows.active("br-2")));
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(
                        () -> assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-2"));
        assertThat(send("/metrics").body()).contains("puri_table_rebuilds_total 0.0");
    }

    @Test
    void refillsATableThatHadNoContactForLongerThanTombstonesAreKept() {
        write(row(TRACK, Rows.active("br-1")));
        AtomicReference<Instant> now = new AtomicReference<>(Instant.parse("2026-03-01T00:00:00Z"));
        try (Keeping keeping = new Keeping(now::get, feeders -> feeders)) {
            TableKeeper<ChangeRing> keeper = keeping.keeper;
            keeper.start();
            await().atMost(Duration.ofSeconds(60)).until(keeper::isReady);
            Table first = keeper.table();

            now.updateAndGet(instant -> instant.plus(Duration.ofDays(5)));
            await().during(Duration.ofSeconds(3)).atMost(Duration.ofSeconds(60)).until(keeper::isReady);
            assertThat(keeper.table()).isSameAs(first);

            now.updateAndGet(instant -> instant.plus(Duration.ofDays(7)));
            await().atMost(Duration.ofSeconds(60)).until(() -> keeper.table() != first);
            await().atMost(Duration.ofSeconds(60)).until(keeper::isReady);
            assertThat(Objects.requireNonNull(keeper.table()).rows()).isEqualTo(1);
        }
    }

    @Test
    void failedFillsAreRetriedAndKeepNoMemory() {
        write(row(TRACK, Rows.active("br-1")));
        List<PackedTable> tables = new CopyOnWriteArrayList<>();
        try (Keeping keeping = new Keeping(InstantSource.system(), feeders -> table -> {
            tables.add(table);
            table.put(Puri.parse("a:b:c"), Rows.active("br-9"));
            assertThat(table.stats().bytes()).isPositive();
            return switch (tables.size()) {
                case 1 -> throw new OutOfMemoryError("as if there were no memory outside the heap");
                case 2 -> throw new IllegalStateException("as if the feeder could not be created");
                default -> feeders.apply(table);
            };
        })) {
            keeping.keeper.start();
            await().atMost(Duration.ofSeconds(60)).until(keeping.keeper::isReady);

            assertThat(keeping.keeper.table()).isSameAs(tables.get(2));
            assertThat(tables).extracting(table -> table.stats().bytes() > 0).containsExactly(false, false, true);
            assertThat(keeping.rebuilds()).isZero();
        }
    }

    @Test
    void aFailedWriterIsReplacedAndItsTableReleased() {
        write(row(TRACK, Rows.active("br-1")));
        try (Keeping keeping = new Keeping(InstantSource.system(), feeders -> feeders)) {
            TableKeeper<ChangeRing> keeper = keeping.keeper;
            keeper.start();
            await().atMost(Duration.ofSeconds(60)).until(keeper::isReady);
            WeakReference<Table> failing = new WeakReference<>(keeper.table());
            Objects.requireNonNull(keeper.table()).onChange((puri, row) -> {
                throw new IllegalStateException("as if a record could not be written");
            });
            write(row(TRACK, Rows.active("br-2")));

            await().atMost(Duration.ofSeconds(60)).until(() -> keeping.rebuilds() == 1 && keeper.isReady());
            assertThat(Objects.requireNonNull(
                                    Objects.requireNonNull(keeper.table()).byPuri(Puri.parse(TRACK)))
                            .row()
                            .shard())
                    .isEqualTo(Shard.parse("br-2"));
            await().atMost(Duration.ofSeconds(30)).until(() -> failing.get() == null);
        }
    }

    @Test
    void aTransactionThatHangsMakesItUnreadyAndIsNamedUntilItIsAborted() {
        write(row(TRACK, Rows.active("br-1")));
        startReady();
        HangingTransaction left = HangingTransaction.leave(
                broker.bootstrapServers(), new TopicPartition(Topics.IDENTITIES, 2), "puri-registry-left");

        await().atMost(Duration.ofSeconds(60)).until(() -> !requireResolver().isReady());
        assertThat(json("/health/ready").at("/checks/0/data/reason").asText())
                .contains("puri.identities.v1-2 cannot be read beyond offset")
                .contains("transactional id puri-registry-left");
        assertThat(json("/health/ready").at("/checks/1/data/hanging/0/action").asText())
                .contains("kafka-transactions.sh abort --topic puri.identities.v1 --partition 2");
        assertThat(get(TRACK).at("/verdict").asText()).isEqualTo("found");

        left.abort();

        awaitReady();
        assertThat(send("/metrics").body()).contains("puri_transactions_hanging 0.0");
    }

    @Test
    void newPartitionsAreReadToo() throws Exception {
        write(row(TRACK, Rows.active("br-1")));
        startReady();

        admin.createPartitions(Map.of(Topics.IDENTITIES, NewPartitions.increaseTo(PARTITIONS + 1)))
                .all()
                .get();
        write(new ProducerRecord<>(Topics.IDENTITIES, PARTITIONS, bytes("a:b:c"), avro(Rows.active("br-7"))));

        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(
                        () -> assertThat(get("a:b:c").at("/shard").asText()).isEqualTo("br-7"));
    }

    @Test
    void waitsForAnUnreachableSchemaRegistry() {
        write(row(TRACK, Rows.active("br-1")));
        registry.stop();
        try {
            start();
            await().atMost(Duration.ofSeconds(30))
                    .untilAsserted(
                            () -> assertThat(send("/health/ready").body()).contains("waiting for the schema registry"));
            assertThat(send("/v1/identities/" + TRACK).statusCode()).isEqualTo(503);
        } finally {
            registry.start();
        }

        awaitReady();
        assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-1");
        assertThat(send("/metrics").body()).contains("puri_table_undecodable_total 0.0");
    }

    @Test
    void closingDoesNotWaitForAnUnreachableSchemaRegistry() {
        write(row(TRACK, Rows.active("br-1")));
        registry.stop();
        try {
            start();
            await().atMost(Duration.ofSeconds(30))
                    .untilAsserted(
                            () -> assertThat(send("/health/ready").body()).contains("waiting for the schema registry"));
            long begun = System.nanoTime();
            requireResolver().close();
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(15));
        } finally {
            registry.start();
        }
    }

    @Test
    void twoResolversLiveInOneJvm() {
        write(row(TRACK, Rows.active("br-1")));
        startReady();
        try (Resolver second = Resolver.start(settings())) {
            await().atMost(Duration.ofSeconds(30)).until(second::isReady);
            assertThat(second.port()).isNotEqualTo(requireResolver().port());
        }
        assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-1");
    }

    @Test
    void aRestartedResolverReadsOnlyRecordsAfterItsSnapshot(@TempDir Path data) throws Exception {
        write(row(TRACK, Rows.active("br-1", HANDLE)), row("soundcloud:tracks:2", Rows.active("br-2")));
        startReady(data);
        stop();
        // From here on only the snapshot contains them.
        deleteRecords();
        write(row("soundcloud:tracks:3", Rows.active("br-3")), tombstone("soundcloud:tracks:2"));

        startReady(data);

        assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-1");
        assertThat(get(HANDLE).at("/puri").asText()).isEqualTo(TRACK);
        assertThat(get("soundcloud:tracks:2").at("/verdict").asText()).isEqualTo("unknown");
        assertThat(get("soundcloud:tracks:3").at("/shard").asText()).isEqualTo("br-3");
        assertThat(json("/health/ready").at("/checks/0/data/behind").asLong(-1)).isZero();
        assertThat(data).isDirectoryContaining(file -> file.endsWith("identities.snapshot"));
    }

    @Test
    void aSnapshotOfAFormerTopicIsNotUsed(@TempDir Path data) throws Exception {
        write(row(TRACK, Rows.active("br-1")));
        startReady(data);
        stop();
        deleteTopicIfThere();
        createTopic();
        write(row("soundcloud:tracks:2", Rows.active("br-2")), row("soundcloud:tracks:3", Rows.active("br-3")));

        startReady(data);

        assertThat(get(TRACK).at("/verdict").asText()).isEqualTo("unknown");
        assertThat(get("soundcloud:tracks:2").at("/verdict").asText()).isEqualTo("found");
    }

    @Test
    void aSnapshotOlderThanTombstonesAreKeptIsNotUsed(@TempDir Path data) throws Exception {
        write(row(TRACK, Rows.active("br-1")));
        startReady(data);
        stop();
        deleteRecords();
        // As if its tombstone had been written and compacted away meanwhile.
        ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, Topics.IDENTITIES);
        admin.incrementalAlterConfigs(Map.of(
                        topic,
                        List.of(new AlterConfigOp(
                                new ConfigEntry("delete.retention.ms", "1"), AlterConfigOp.OpType.SET))))
                .all()
                .get();

        startReady(data);

        assertThat(get(TRACK).at("/verdict").asText()).isEqualTo("unknown");
    }

    @Test
    void aDamagedSnapshotCostsTimeOnly(@TempDir Path data) throws Exception {
        write(row(TRACK, Rows.active("br-1")));
        startReady(data);
        stop();
        Path snapshot = data.resolve("identities.snapshot");
        byte[] bytes = Files.readAllBytes(snapshot);
        bytes[bytes.length / 2] ^= 1;
        Files.write(snapshot, bytes);

        assertIsRefusedAndRefilled(data, bytes);
    }

    @Test
    void aSnapshotThatCannotBeReadThoughItsChecksumsAreRightIsSetAside(@TempDir Path data) throws Exception {
        write(row(TRACK, Rows.active("br-1")));
        startReady(data);
        stop();
        Path snapshot = data.resolve("identities.snapshot");
        byte[] bytes = Files.readAllBytes(snapshot);
        // The footer has the position of the words, which begin with the number of texts and the first one's length.
        ByteBuffer damaged = ByteBuffer.wrap(bytes);
        int words = (int) damaged.getLong(bytes.length - 44);
        int checked = damaged.getInt(bytes.length - 36) - 4;
        damaged.putShort(words + 4, (short) -1);
        CRC32C crc = new CRC32C();
        crc.update(bytes, words, checked);
        damaged.putInt(words + checked, (int) crc.getValue());
        Files.write(snapshot, bytes);

        assertIsRefusedAndRefilled(data, bytes);
    }

    private void assertIsRefusedAndRefilled(Path data, byte[] snapshot) {
        // Without it the table is not filled; once it is filled, the file that was set aside is deleted.
        registry.stop();
        try {
            resolver = Resolver.start(settings(data));
            awaitUnready("waiting for the schema registry");
            assertThat(data.resolve("identities.snapshot.refused")).hasBinaryContent(snapshot);
            assertThat(data.resolve("identities.snapshot")).doesNotExist();
        } finally {
            registry.start();
        }

        awaitReady();
        assertThat(get(TRACK).at("/shard").asText()).isEqualTo("br-1");
    }

    /** A keeper alone, with feeders that the test chooses. */
    private static final class Keeping implements AutoCloseable {
        private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
        private final ConfluentSchemaRegistry schemas =
                ConfluentSchemaRegistry.create(Map.of("schema.registry.url", registry.url()));
        private final Subscribers changes;
        private final TableKeeper<ChangeRing> keeper;

        /**
         * @param feeders converts the factory that a resolver uses
         */
        Keeping(InstantSource clock, UnaryOperator<Function<PackedTable, TableFeeder>> feeders) {
            changes = Subscribers.start(
                    ChangesOptions.of(10, Duration.ofDays(1), 1, 10_000, Duration.ofSeconds(1)),
                    new PlainConsumers(Map.of(), broker.bootstrapServers()),
                    schemas,
                    clock,
                    meters);
            keeper = new TableKeeper<>(
                    () -> new TopicAdmin(Map.of(), broker.bootstrapServers(), Topics.IDENTITIES),
                    feeders.apply(StreamsTableFeeder.factory(
                            Map.of(),
                            broker.bootstrapServers(),
                            "target/state",
                            schemas,
                            new OutcomeCache(new SimpleMeterRegistry()),
                            new Waiters(1),
                            meters)),
                    new Snapshots(null, Duration.ofMinutes(10), clock),
                    new Waiters(1),
                    changes::startRing,
                    0,
                    Duration.ofSeconds(30),
                    () -> null,
                    System::gc,
                    clock,
                    meters);
        }

        double rebuilds() {
            return meters.get("puri.table.rebuilds").counter().count();
        }

        @Override
        public void close() {
            keeper.close();
            changes.close();
            schemas.close();
        }
    }

    private void startReady(Path data) {
        resolver = Resolver.start(settings(data));
        awaitReady();
    }

    private void stop() {
        requireResolver().close();
        resolver = null;
    }

    private static void deleteRecords() throws Exception {
        Map<TopicPartition, RecordsToDelete> all = new HashMap<>();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            // Up to the end.
            all.put(new TopicPartition(Topics.IDENTITIES, partition), RecordsToDelete.beforeOffset(-1));
        }
        admin.deleteRecords(all).all().get();
    }

    private Resolver requireResolver() {
        return Objects.requireNonNull(resolver);
    }

    private void start() {
        resolver = Resolver.start(settings());
    }

    private void startReady() {
        start();
        awaitReady();
    }

    private static ResolverSettings settings() {
        return settings(null);
    }

    private static ResolverSettings settings(@Nullable Path stateDir) {
        return new ResolverSettings(
                broker.bootstrapServers(),
                registry.url(),
                "127.0.0.1",
                0,
                100,
                100_000,
                Duration.ofSeconds(10),
                100,
                0,
                Duration.ofSeconds(2),
                Duration.ZERO,
                Optional.ofNullable(stateDir),
                Duration.ofMinutes(10),
                Optional.empty(),
                PublicSettings.OFF,
                ChangesSettings.DEFAULT,
                HttpSettings.DEFAULT,
                KafkaProperties.NONE);
    }

    private void awaitReady() {
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            HttpResponse<String> ready = send("/health/ready");
            assertThat(ready.statusCode()).as(ready.body()).isEqualTo(200);
        });
    }

    private void awaitUnready(String reason) {
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            HttpResponse<String> ready = send("/health/ready");
            assertThat(ready.statusCode()).as(ready.body()).isEqualTo(503);
            assertThat(ready.body()).contains(reason);
        });
    }

    private void awaitVerdict(String ref, String verdict) {
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(
                        () -> assertThat(get(ref).at("/verdict").asText()).isEqualTo(verdict));
    }

    private Optional<String> lag() {
        return send("/v1/identities/" + TRACK).headers().firstValue("Puri-Table-Lag");
    }

    private JsonNode get(String ref) {
        return json("/v1/identities/" + ref);
    }

    private JsonNode json(String path) {
        try {
            return JSON.readTree(send(path).body());
        } catch (JsonProcessingException e) {
            throw new AssertionError(e);
        }
    }

    private HttpResponse<String> send(String path) {
        return CONTRACT.sendAsync(request(path)).join();
    }

    private HttpRequest request(String path) {
        return HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + requireResolver().port() + path))
                .build();
    }

    @SafeVarargs
    private static void write(ProducerRecord<byte[], byte[]>... records) {
        producer.beginTransaction();
        List<Future<RecordMetadata>> sent =
                Arrays.stream(records).map(producer::send).toList();
        producer.commitTransaction();
        assertThat(sent).allMatch(Future::isDone);
    }

    private static ProducerRecord<byte[], byte[]> row(String puri, Row row) {
        return new ProducerRecord<>(Topics.IDENTITIES, Puri.parse(puri).toBytes(), avro(row));
    }

    private static ProducerRecord<byte[], byte[]> tombstone(String puri) {
        return new ProducerRecord<>(Topics.IDENTITIES, Puri.parse(puri).toBytes(), null);
    }

    private static ProducerRecord<byte[], byte[]> at0(String puri, byte[] value) {
        return new ProducerRecord<>(Topics.IDENTITIES, 0, bytes(puri), value);
    }

    private static byte[] avro(Row row) {
        return WRITER.encode(schemaId, RowAvro.toAvro(row));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void deleteTopicIfThere() throws Exception {
        try {
            admin.deleteTopics(List.of(Topics.IDENTITIES)).all().get();
        } catch (ExecutionException e) {
            assertThat(e.getCause()).isInstanceOf(UnknownTopicOrPartitionException.class);
        }
        await().atMost(Duration.ofSeconds(30))
                .until(() -> !admin.listTopics().names().get().contains(Topics.IDENTITIES));
    }
}

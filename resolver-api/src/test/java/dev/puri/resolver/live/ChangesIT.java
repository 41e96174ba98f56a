package dev.puri.resolver.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.projection.wait.Tokens;
import dev.puri.resolver.live.Subscribers.Admission;
import dev.puri.schemas.avro.IdentityRow;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.RowAvro;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.InMemorySchemaRegistry;
import dev.puri.schemas.serde.RecordWriter;
import dev.puri.testkit.Broker;
import dev.puri.testkit.RestartableBroker;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Changes of a topic on a real broker, reported by several instances. */
@Timeout(120)
final class ChangesIT {
    private static final int PARTITIONS = 3;
    private static final Outcome REFUSED = Outcome.refused(Reason.PURI_TAKEN);
    private static final RecordWriter<IdentityRow> ROWS = RecordWriter.of(IdentityRow.class);
    private static final InMemorySchemaRegistry REGISTRY = new InMemorySchemaRegistry();
    private static final int SCHEMA_ID = REGISTRY.register("rows", ROWS.schema());

    private static RestartableBroker broker;
    private static Admin admin;
    private static KafkaProducer<byte[], byte[]> producer;

    private final List<FollowingTable> instances = new ArrayList<>();

    @BeforeAll
    static void startBroker() {
        broker = Broker.start();
        admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()));
        Properties config = new Properties();
        config.put("bootstrap.servers", broker.bootstrapServers());
        config.put("transactional.id", "topology");
        config.put("linger.ms", "0");
        producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
        producer.initTransactions();
    }

    @AfterAll
    static void stopBroker() {
        producer.close();
        admin.close();
        broker.close();
    }

    @BeforeEach
    void createTopic() throws Exception {
        admin.createTopics(List.of(new NewTopic(Topics.IDENTITIES, PARTITIONS, (short) 1)
                        .configs(Map.of("cleanup.policy", "compact,delete"))))
                .all()
                .get();
        // The broker answers before it knows of the topic itself.
        await().ignoreExceptions()
                .until(() -> !admin.describeTopics(List.of(Topics.IDENTITIES))
                        .allTopicNames()
                        .get()
                        .isEmpty());
    }

    @AfterEach
    void deleteTopic() throws Exception {
        for (FollowingTable instance : instances) {
            instance.close();
        }
        admin.deleteTopics(List.of(Topics.IDENTITIES)).all().get();
        await().atMost(Duration.ofSeconds(30))
                .until(() -> !admin.listTopics().names().get().contains(Topics.IDENTITIES));
    }

    @Test
    void noChangeIsLostOverAReconnectOnAnotherInstance() throws Exception {
        write(change(0, "br-0"));
        FollowingTable a = instance(1_000);
        FollowingTable b = instance(1_000);
        Client client = new Client();
        client.connect(a, null);
        await().until(() -> client.stream.lastId() != null);
        for (int i = 1; i <= 20; i++) {
            write(change(i, "br-1"));
        }
        client.awaitChanges(1);
        client.disconnect();
        for (int i = 21; i <= 40; i++) {
            write(change(i, "br-1"));
        }

        client.connect(b, client.last);
        for (int i = 41; i <= 60; i++) {
            write(change(i, "br-1"));
        }

        client.awaitChanges(60);
        assertThat(client.changes).doesNotHaveDuplicates().noneMatch(change -> change.contains("br-0"));
    }

    @Test
    void anOlderIdIsReadFromTheTopic() throws Exception {
        FollowingTable a = instance(4);
        Client before = new Client();
        before.connect(a, null);
        await().until(() -> before.stream.lastId() != null);
        before.disconnect();
        write(change(1, "br-1"), change(2, "br-1"), change(3, "br-1"));
        write(change(1, "br-2"), record(2, LiveRows.row("br-1", 2), REFUSED), record(9, null, REFUSED));
        abort(change(3, "br-9"));
        write(record(3, null, Outcome.APPLIED), record(2, LiveRows.row("br-1", 2), Outcome.UNCHANGED));
        write(marker(), misplacedTombstone(1));
        for (int i = 10; i < 30; i++) {
            write(change(i, "br-1"));
        }

        Client client = new Client();
        client.connect(a, before.last);

        client.awaitChanges(26);
        assertThat(client.of(1)).hasSize(2).last().asString().contains("br-2");
        assertThat(client.of(2)).hasSize(1);
        assertThat(client.of(3)).hasSize(2).last().asString().startsWith("erased");
        // Whether this name existed before, and its erasure was removed from the log, is unknown.
        assertThat(client.of(9)).singleElement().asString().startsWith("erased");
        assertThat(client.changes).noneMatch(change -> change.contains("marker"));
    }

    @Test
    void sendsARowWhoseChangeWasCompacted() throws Exception {
        FollowingTable a = instance(4);
        Client before = new Client();
        before.connect(a, null);
        await().until(() -> before.stream.lastId() != null);
        before.disconnect();
        // The record that compaction leaves of a change and a refusal: the later one, with the row.
        write(record(1, LiveRows.row("br-7", 1), REFUSED));
        for (int i = 10; i < 20; i++) {
            write(change(i, "br-1"));
        }

        Client client = new Client();
        client.connect(a, before.last);

        client.awaitChanges(11);
        assertThat(client.of(1)).singleElement().asString().contains("br-7");
    }

    @Test
    void anIdOfARecreatedTopicOrDeletedRecordsResets() throws Exception {
        write(change(1, "br-1"), change(2, "br-1"));
        Client client = new Client();
        client.connect(instance(4), null);
        await().until(() -> client.stream.lastId() != null);
        client.disconnect();
        ChangeId id = Objects.requireNonNull(client.last);

        for (int i = 0; i < 20; i++) {
            write(change(i, "br-2"));
        }
        Map<TopicPartition, RecordsToDelete> all = new HashMap<>();
        for (int partition = 0; partition < PARTITIONS; partition++) {
            all.put(new TopicPartition(Topics.IDENTITIES, partition), RecordsToDelete.beforeOffset(-1));
        }
        admin.deleteRecords(all).all().get();
        Client late = new Client();
        late.connect(instance(4), id);
        await().until(() -> late.stream.texts().contains("reset {\"reason\":\"gone\"}"));

        deleteTopic();
        instances.clear();
        createTopic();
        Client other = new Client();
        other.connect(instance(4), id);
        await().until(() -> other.stream.texts().contains("reset {\"reason\":\"other-topic\"}"));
    }

    @Test
    void aDroppedSlowReaderContinuesFromItsId() throws Exception {
        FollowingTable a = instance(50);
        Client slow = new Client();
        slow.connect(a, null);
        await().until(() -> slow.stream.lastId() != null);
        slow.stream.stopReading();
        int written = 0;
        while (!slow.stream.types().contains("dropped") && written < 5_000) {
            write(change(written++, "br-1"), change(written++, "br-1"));
        }
        assertThat(slow.stream.texts()).last().isEqualTo("dropped {\"reason\":\"slow-reader\"}");

        slow.disconnect();
        slow.connect(a, slow.last);

        slow.awaitChanges(written);
        assertThat(slow.changes).doesNotHaveDuplicates();
    }

    /** The changes that one client receives over all its connections. */
    private static final class Client {
        private final List<String> changes = new ArrayList<>();
        private FakeSink stream = new FakeSink();
        private @Nullable ChangeId last;
        private @Nullable Subscription subscription;
        private int seen;

        void connect(FollowingTable instance, @Nullable ChangeId id) {
            stream = new FakeSink();
            seen = 0;
            FakeSink opening = stream;
            AtomicReference<@Nullable Subscription> opened = new AtomicReference<>();
            assertThat(instance.subscribers.subscribe(id, CollectionFilter.ALL, admitted -> {
                        opened.set(admitted);
                        return opening;
                    }))
                    .isEqualTo(Admission.ADMITTED);
            subscription = opened.get();
        }

        void disconnect() {
            stream.close();
            Objects.requireNonNull(subscription).cancel();
            listen();
            last = stream.lastId();
        }

        private void listen() {
            List<FakeSink.Event> events = stream.events();
            for (; seen < events.size(); seen++) {
                FakeSink.Event event = events.get(seen);
                if (event.id() != null) {
                    changes.add(event.type() + " " + event.data());
                }
            }
        }

        void awaitChanges(int count) {
            await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> {
                listen();
                assertThat(changes).hasSizeGreaterThanOrEqualTo(count);
            });
            assertThat(changes.size() == count || count == 1)
                    .as(changes.toString())
                    .isTrue();
        }

        List<String> of(int number) {
            String name = "\"" + LiveRows.track(number) + "\"";
            return changes.stream().filter(change -> change.contains(name)).toList();
        }
    }

    private FollowingTable instance(int history) throws InterruptedException, ExecutionException {
        Uuid topicId = Objects.requireNonNull(admin.describeTopics(List.of(Topics.IDENTITIES))
                        .allTopicNames()
                        .get()
                        .get(Topics.IDENTITIES))
                .topicId();
        FollowingTable instance = new FollowingTable(broker.bootstrapServers(), REGISTRY, topicId, PARTITIONS, history);
        instances.add(instance);
        return instance;
    }

    @SafeVarargs
    private static void write(ProducerRecord<byte[], byte[]>... records) {
        producer.beginTransaction();
        for (ProducerRecord<byte[], byte[]> record : records) {
            assertThat(producer.send(record)).isNotNull();
        }
        producer.commitTransaction();
    }

    private static void abort(ProducerRecord<byte[], byte[]> record) {
        producer.beginTransaction();
        assertThat(producer.send(record)).isNotNull();
        producer.flush();
        producer.abortTransaction();
    }

    private static ProducerRecord<byte[], byte[]> change(int number, String shard) {
        return record(number, LiveRows.row(shard, number), Outcome.APPLIED);
    }

    private static ProducerRecord<byte[], byte[]> record(int number, @Nullable Row row, Outcome outcome) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                Topics.IDENTITIES,
                LiveRows.track(number).toBytes(),
                row == null ? null : ROWS.encode(SCHEMA_ID, RowAvro.toAvro(row)));
        record.headers().add(Outcome.HEADER, outcome.toString().getBytes(StandardCharsets.UTF_8));
        return record;
    }

    /** A record of another producer, in another partition than those of its pURI. */
    private static ProducerRecord<byte[], byte[]> misplacedTombstone(int number) {
        Puri puri = LiveRows.track(number);
        int otherPartition = (Tokens.partition(puri, PARTITIONS) + 1) % PARTITIONS;
        return new ProducerRecord<>(Topics.IDENTITIES, otherPartition, puri.toBytes(), null);
    }

    private static ProducerRecord<byte[], byte[]> marker() {
        return new ProducerRecord<>(
                Topics.IDENTITIES, Puri.parse("puri:marker:0").toBytes(), null);
    }
}

package dev.puri.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.message.FetchResponseData.FetchableTopicResponse;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.FetchResponse;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(180)
class TamperingProxyIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final List<String> ISOLATIONS = List.of("read_uncommitted", "read_committed");
    private static final AtomicInteger TOPICS = new AtomicInteger();

    private static Broker broker;

    private final String topic = "tampered-" + TOPICS.incrementAndGet();
    private final TopicPartition partition = new TopicPartition(topic, 0);

    /** Of today: a marker after a record of long ago would begin a segment, and the broker would delete the old one. */
    private final long timestamp = System.currentTimeMillis();

    /** A record as a consumer sees it. */
    private record Seen(
            TopicPartition partition,
            long offset,
            @Nullable String key,
            @Nullable String value,
            long timestamp,
            String headers,
            Optional<Integer> leaderEpoch) {}

    /** The part of a batch that a removed record does not change. */
    private record BatchMetadata(
            long baseOffset,
            long lastOffset,
            long producerId,
            short producerEpoch,
            int baseSequence,
            int lastSequence,
            boolean isTransactional,
            boolean isControl,
            int leaderEpoch,
            String timestampType) {}

    @BeforeAll
    static void startBroker() {
        broker = Broker.shared();
    }

    @ParameterizedTest
    @CsvSource({"none,false", "zstd,false", "none,true", "zstd,true"})
    void consumersMissExactlyTheChosenRecord(String compression, boolean isTransactional) throws Exception {
        createTopic(1);
        writeLog(compression, isTransactional);
        try (TamperingProxy proxy = TamperingProxy.start(broker.bootstrapServers())) {
            for (String isolation : ISOLATIONS) {
                List<Seen> all = read(broker, isolation);
                assertThat(read(proxy, isolation)).as("without a rule").isEqualTo(all);
                for (String key : List.of("first-0", "first-4", "first-9", "alone", "last-9")) {
                    RecordDrop drop = proxy.dropAll(key(key));
                    List<Seen> expected =
                            all.stream().filter(each -> !key.equals(each.key())).toList();
                    assertThat(expected).hasSize(all.size() - 1);
                    assertThat(read(proxy, isolation)).as(key).isEqualTo(expected);
                    assertThat(drop.positions()).hasSize(1);
                    assertThat(read(broker, isolation)).as("directly").isEqualTo(all);
                    drop.end();
                }
                assertThat(read(proxy, isolation)).as("all rules ended").isEqualTo(all);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void batchesKeepAllButTheRecord(boolean isFetchedById) throws Exception {
        createTopic(1);
        writeLog("zstd", true);
        // Version 12 is the last that has the topic's name instead of its id.
        short version = isFetchedById ? ApiKeys.FETCH.latestVersion() : 12;
        try (TamperingProxy proxy = TamperingProxy.start(broker.bootstrapServers())) {
            Uuid id = topicId(proxy);
            List<RecordBatch> all = fetch(broker, id, version);
            RecordDrop drop = proxy.dropAll(key("first-4", "alone"));
            List<RecordBatch> tampered = fetch(proxy, id, version);

            assertThat(tampered)
                    .extracting(TamperingProxyIT::metadata)
                    .isEqualTo(all.stream().map(TamperingProxyIT::metadata).toList());
            assertThat(all).anyMatch(RecordBatch::isControlBatch).anyMatch(RecordBatch::isTransactional);
            assertThat(tampered).allSatisfy(RecordBatch::ensureValid);
            // The log cleaner, too, writes a batch without records uncompressed.
            assertThat(tampered)
                    .extracting(each -> each.compressionType().name)
                    .containsExactly("zstd", "none", "none", "zstd", "none", "zstd", "none");
            assertThat(tampered.get(1).iterator().hasNext()).as("has records").isFalse();
            List<Long> expected = offsets(all);
            drop.positions().forEach(each -> expected.remove(each.offset()));
            assertThat(drop.positions()).hasSize(2);
            assertThat(offsets(tampered)).isEqualTo(expected);
        }
    }

    @Test
    void dropFirstRemovesTheSameOccurrenceForEveryConsumer() throws Exception {
        createTopic(1);
        write("none", "a", "b", "a", "b");
        write("none", "a");
        try (TamperingProxy proxy = TamperingProxy.start(broker.bootstrapServers())) {
            RecordDrop first = proxy.dropFirst(key("a"));
            for (String isolation : ISOLATIONS) {
                assertThat(read(proxy, isolation)).extracting(Seen::offset).containsExactly(1L, 2L, 3L, 4L);
            }
            assertThat(first.positions()).containsExactly(new RecordDrop.Position(partition, 0));

            RecordDrop all = proxy.dropAll(key("b"));
            assertThat(read(proxy, "read_committed")).extracting(Seen::offset).containsExactly(2L, 4L);
            assertThat(all.positions())
                    .containsExactly(new RecordDrop.Position(partition, 1), new RecordDrop.Position(partition, 3));
        }
    }

    @Test
    void recordsWithoutAKeyAreDroppedToo() throws Exception {
        createTopic(1);
        write("none", null, "a");
        try (TamperingProxy proxy = TamperingProxy.start(broker.bootstrapServers())) {
            proxy.dropAll((each, key) -> each.equals(partition) && key == null);
            assertThat(read(proxy, "read_committed")).extracting(Seen::key).containsExactly("a");
        }
    }

    @Test
    void aFollowerMissesARecordThatArrivesLater() throws Exception {
        createTopic(1);
        write("none", "before");
        try (TamperingProxy proxy = TamperingProxy.start(broker.bootstrapServers());
                KafkaConsumer<String, String> follower = consumer(proxy, Map.of())) {
            follower.assign(List.of(partition));
            follower.seekToBeginning(List.of(partition));
            assertThat(readTo(follower, Map.of(partition, 1L))).hasSize(1);

            proxy.dropAll(key("dropped"));
            write("none", "dropped");
            assertThat(readTo(follower, Map.of(partition, 2L))).isEmpty();
            write("none", "after");
            assertThat(readTo(follower, Map.of(partition, 3L)))
                    .extracting(Seen::offset)
                    .containsExactly(2L);
        }
    }

    /** Kafka Streams fills a global store with such a consumer, and ends when its positions are the end offsets. */
    @Test
    void aGlobalStoresConsumerReachesTheEndOffsets() throws Exception {
        createTopic(3);
        try (KafkaProducer<String, String> producer = producer(broker, Map.of("transactional.id", topic))) {
            producer.initTransactions();
            producer.beginTransaction();
            for (int each = 0; each < 30; each++) {
                producer.send(new ProducerRecord<>(topic, each % 3, "key-" + each / 3, "value"));
            }
            producer.commitTransaction();
        }
        awaitNoOpenTransaction(3);
        try (TamperingProxy proxy = TamperingProxy.start(broker.bootstrapServers())) {
            RecordDrop drop = proxy.dropAll((each, key) ->
                    each.equals(new TopicPartition(topic, 1)) && Arrays.equals(key, "key-9".getBytes(UTF_8)));

            List<Seen> rows = read(proxy, "read_committed");

            assertThat(drop.positions()).containsExactly(new RecordDrop.Position(new TopicPartition(topic, 1), 9));
            assertThat(rows)
                    .hasSize(29)
                    .isEqualTo(read(broker, "read_committed").stream()
                            .filter(each -> each.partition().partition() != 1 || each.offset() != 9)
                            .toList());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "1", "all"})
    void producedRecordsAreUnchanged(String acks) throws Exception {
        createTopic(1);
        try (TamperingProxy proxy = TamperingProxy.start(broker.bootstrapServers());
                KafkaProducer<String, String> producer = producer(
                        proxy,
                        Map.of("acks", acks, "enable.idempotence", acks.equals("all"), "max.block.ms", 60_000))) {
            proxy.dropAll(key("a"));
            for (String key : List.of("a", "b", "c")) {
                producer.send(new ProducerRecord<>(topic, key, "of " + key));
            }
            producer.flush();

            // A producer with acks=0 does not wait for the broker.
            await().atMost(TIMEOUT).until(() -> read(broker, "read_committed").size() == 3);
            assertThat(read(broker, "read_committed"))
                    .extracting(Seen::key, Seen::value)
                    .containsExactly(tuple("a", "of a"), tuple("b", "of b"), tuple("c", "of c"));
        }
    }

    @Test
    void groupsAndTransactionsWorkThroughTheProxy() throws Exception {
        createTopic(1);
        write("none", "a", "b");
        String group = topic + "-group";
        try (TamperingProxy proxy = TamperingProxy.start(broker.bootstrapServers());
                KafkaProducer<String, String> producer = producer(proxy, Map.of("transactional.id", group));
                KafkaConsumer<String, String> consumer =
                        consumer(proxy, Map.of("group.id", group, "auto.offset.reset", "earliest"));
                Admin admin = admin(proxy)) {
            consumer.subscribe(List.of(topic));
            List<String> keys = new ArrayList<>();
            await().atMost(TIMEOUT).until(() -> {
                consumer.poll(Duration.ofMillis(200)).forEach(each -> keys.add(each.key()));
                return keys.size() == 2;
            });
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>(topic, "c", "of c"));
            producer.sendOffsetsToTransaction(Map.of(partition, new OffsetAndMetadata(2)), consumer.groupMetadata());
            producer.commitTransaction();

            assertThat(keys).containsExactly("a", "b");
            await().atMost(TIMEOUT)
                    .untilAsserted(() -> assertThat(admin.listConsumerGroupOffsets(group)
                                    .partitionsToOffsetAndMetadata()
                                    .get(30, TimeUnit.SECONDS)
                                    .get(partition)
                                    .offset())
                            .isEqualTo(2));
            awaitNoOpenTransaction(1);
            assertThat(read(broker, "read_committed")).extracting(Seen::key).containsExactly("a", "b", "c");
        }
    }

    @Test
    void clientsKnowNoAddressButTheProxys() throws Exception {
        createTopic(1);
        String group = topic + "-group";
        try (TamperingProxy proxy = TamperingProxy.start(broker.bootstrapServers());
                KafkaConsumer<String, String> consumer = consumer(proxy, Map.of("group.id", group));
                Admin admin = admin(proxy)) {
            consumer.assign(List.of(partition));
            consumer.commitSync(Map.of(partition, new OffsetAndMetadata(0)));

            List<Node> nodes = new ArrayList<>(admin.describeCluster().nodes().get(30, TimeUnit.SECONDS));
            nodes.add(admin.describeCluster().controller().get(30, TimeUnit.SECONDS));
            nodes.add(consumer.partitionsFor(topic).get(0).leader());
            nodes.add(admin.describeConsumerGroups(List.of(group))
                    .describedGroups()
                    .get(group)
                    .get(30, TimeUnit.SECONDS)
                    .coordinator());
            assertThat(nodes)
                    .hasSize(4)
                    .extracting(each -> each.host() + ":" + each.port())
                    .containsOnly(proxy.bootstrapServers());
        }
    }

    @Test
    void clientsReachARestartedBroker() throws Exception {
        try (RestartableBroker restarted = Broker.start();
                TamperingProxy proxy = TamperingProxy.start(restarted.bootstrapServers());
                KafkaProducer<String, String> producer = producer(proxy, Map.of());
                Admin admin = admin(proxy)) {
            admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1))).all().get(30, TimeUnit.SECONDS);
            producer.send(new ProducerRecord<>(topic, "a", "before")).get(60, TimeUnit.SECONDS);
            restarted.stop();
            restarted.start();
            producer.send(new ProducerRecord<>(topic, "b", "after")).get(60, TimeUnit.SECONDS);

            proxy.dropAll(key("a"));
            assertThat(read(proxy, "read_committed")).extracting(Seen::value).containsExactly("after");
        }
    }

    @Test
    void closeEndsConnectionsAndThreads() throws Exception {
        TamperingProxy proxy = TamperingProxy.start(broker.bootstrapServers());
        String[] address = proxy.bootstrapServers().split(":");
        try (Socket idle = new Socket(address[0], Integer.parseInt(address[1]));
                Admin admin = admin(proxy)) {
            admin.describeCluster().nodes().get(30, TimeUnit.SECONDS);
            assertThat(threads(idle)).isNotEmpty();

            proxy.close();
            proxy.close();

            assertThat(idle.getInputStream().read()).isEqualTo(-1);
            assertThat(threads(idle)).isEmpty();
            assertThatThrownBy(() -> new Socket(address[0], Integer.parseInt(address[1])).close())
                    .isInstanceOf(IOException.class);
        }
    }

    @Test
    void closeReportsAFailedSelector() throws Exception {
        createTopic(1);
        write("none", "a");
        TamperingProxy proxy = TamperingProxy.start(broker.bootstrapServers());
        Uuid id = topicId(proxy);
        proxy.dropAll((each, key) -> {
            throw new IllegalArgumentException("no such rule");
        });
        assertThatThrownBy(() -> fetch(proxy, id, ApiKeys.FETCH.latestVersion()))
                .isInstanceOf(EOFException.class);
        assertThatThrownBy(proxy::close)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no such rule");
    }

    @Test
    void closeReportsAFetchOfAnUnknownTopic() throws Exception {
        createTopic(1);
        write("none", "a");
        TamperingProxy proxy = TamperingProxy.start(broker.bootstrapServers());
        proxy.dropAll(key("a"));
        Uuid id = topicId(broker);
        assertThatThrownBy(() -> fetch(proxy, id, ApiKeys.FETCH.latestVersion()))
                .isInstanceOf(EOFException.class);
        assertThatThrownBy(proxy::close).hasMessageContaining(id.toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost", ":9092", "a:1,b:2", "a:b"})
    void needsOneAddress(String bootstrapServers) {
        assertThatThrownBy(() -> TamperingProxy.start(bootstrapServers)).isInstanceOf(IllegalArgumentException.class);
    }

    /**
     * Writes a batch with a tombstone, a batch of one record, an aborted batch (if transactional) and a last batch. The
     * keys are first-0 to first-9, alone, aborted, last-0 to last-9.
     */
    private void writeLog(String compression, boolean isTransactional) throws Exception {
        Map<String, Object> config = new HashMap<>(Map.of("compression.type", compression, "linger.ms", 60_000));
        config.put("delivery.timeout.ms", 180_000);
        if (isTransactional) {
            config.put("transactional.id", topic);
        }
        try (KafkaProducer<String, String> producer = producer(broker, config)) {
            if (isTransactional) {
                producer.initTransactions();
            }
            inTransaction(producer, isTransactional, true, () -> {
                sendBatch(producer, "first");
                producer.send(record("alone", "value of alone"));
                producer.flush();
            });
            if (isTransactional) {
                inTransaction(producer, true, false, () -> {
                    producer.send(record("aborted", "value"));
                    producer.flush();
                });
            }
            inTransaction(producer, isTransactional, true, () -> sendBatch(producer, "last"));
        }
        awaitNoOpenTransaction(1);
    }

    private static void inTransaction(
            KafkaProducer<?, ?> producer, boolean isTransactional, boolean commits, Runnable sends) {
        if (!isTransactional) {
            sends.run();
            return;
        }
        producer.beginTransaction();
        sends.run();
        if (commits) {
            producer.commitTransaction();
        } else {
            producer.abortTransaction();
        }
    }

    private void sendBatch(KafkaProducer<String, String> producer, String prefix) {
        for (int each = 0; each < 10; each++) {
            producer.send(record(prefix + "-" + each, each == 7 ? null : "value " + each));
        }
        producer.flush();
    }

    private ProducerRecord<String, String> record(@Nullable String key, @Nullable String value) {
        ProducerRecord<String, String> record = new ProducerRecord<>(topic, 0, timestamp, key, value);
        record.headers().add(new RecordHeader("of", String.valueOf(key).getBytes(UTF_8)));
        return record;
    }

    /** Writes the keys as one batch. */
    private void write(String compression, @Nullable String... keys) {
        Map<String, Object> config =
                Map.of("compression.type", compression, "linger.ms", 60_000, "delivery.timeout.ms", 180_000);
        try (KafkaProducer<String, String> producer = producer(broker, config)) {
            for (String key : keys) {
                producer.send(record(key, "value"));
            }
        }
    }

    private static RecordDrop.Selector key(String... keys) {
        Set<String> selected = Set.of(keys);
        return (partition, key) -> key != null && selected.contains(new String(key, UTF_8));
    }

    /** Reads the topic from its beginning to the end offsets that the broker reports for this isolation level. */
    private List<Seen> read(Broker from, String isolation) {
        try (KafkaConsumer<String, String> consumer =
                consumer(from, Map.of("isolation.level", isolation, "fetch.max.wait.ms", 10))) {
            List<TopicPartition> partitions = consumer.partitionsFor(topic).stream()
                    .map(each -> new TopicPartition(topic, each.partition()))
                    .toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            return readTo(consumer, consumer.endOffsets(partitions)).stream()
                    .sorted(Comparator.comparing(each -> each.partition().partition()))
                    .toList();
        }
    }

    private static List<Seen> readTo(KafkaConsumer<String, String> consumer, Map<TopicPartition, Long> end) {
        List<Seen> all = new ArrayList<>();
        await().atMost(TIMEOUT).pollDelay(Duration.ZERO).until(() -> {
            consumer.poll(Duration.ofMillis(100)).forEach(each -> all.add(seen(each)));
            return end.entrySet().stream().allMatch(each -> consumer.position(each.getKey()) >= each.getValue());
        });
        return all;
    }

    private static Seen seen(ConsumerRecord<String, String> record) {
        return new Seen(
                new TopicPartition(record.topic(), record.partition()),
                record.offset(),
                record.key(),
                record.value(),
                record.timestamp(),
                record.headers().toString(),
                record.leaderEpoch());
    }

    /** Waits until the last stable offsets are the end offsets: a commit returns before its markers are written. */
    private void awaitNoOpenTransaction(int partitions) {
        List<TopicPartition> all = new ArrayList<>();
        for (int each = 0; each < partitions; each++) {
            all.add(new TopicPartition(topic, each));
        }
        try (KafkaConsumer<String, String> committed = consumer(broker, Map.of("isolation.level", "read_committed"));
                KafkaConsumer<String, String> uncommitted = consumer(broker, Map.of())) {
            await().atMost(TIMEOUT).until(() -> {
                Map<TopicPartition, Long> stable = committed.endOffsets(all);
                return stable.equals(uncommitted.endOffsets(all));
            });
        }
    }

    private void createTopic(int partitions) throws Exception {
        try (Admin admin = admin(broker)) {
            admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 1)))
                    .all()
                    .get(30, TimeUnit.SECONDS);
        }
    }

    private Uuid topicId(Broker from) throws Exception {
        try (KafkaConsumer<String, String> consumer = consumer(from, Map.of());
                Admin admin = admin(broker)) {
            // A metadata response through the proxy, which consumers receive before they fetch.
            assertThat(consumer.partitionsFor(topic)).isNotEmpty();
            return admin.describeTopics(List.of(topic))
                    .allTopicNames()
                    .get(30, TimeUnit.SECONDS)
                    .get(topic)
                    .topicId();
        }
    }

    private static Admin admin(Broker broker) {
        return Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()));
    }

    private static KafkaConsumer<String, String> consumer(Broker broker, Map<String, Object> config) {
        Map<String, Object> all = new HashMap<>(Map.of(
                "bootstrap.servers", broker.bootstrapServers(),
                "auto.offset.reset", "none",
                "enable.auto.commit", "false"));
        all.putAll(config);
        return new KafkaConsumer<>(all, new StringDeserializer(), new StringDeserializer());
    }

    private static KafkaProducer<String, String> producer(Broker broker, Map<String, Object> config) {
        Map<String, Object> all = new HashMap<>(config);
        all.put("bootstrap.servers", broker.bootstrapServers());
        return new KafkaProducer<>(all, new StringSerializer(), new StringSerializer());
    }

    /** Fetches the batches of the partition with a request of this version. */
    private List<RecordBatch> fetch(Broker from, Uuid topicId, short version) throws IOException {
        RequestHeader header = new RequestHeader(ApiKeys.FETCH, version, "raw-fetch", 1);
        ByteBuffer request = FetchRequest.Builder.forConsumer(
                        version,
                        500,
                        1,
                        Map.of(partition, new FetchRequest.PartitionData(topicId, 0, -1, 1 << 20, Optional.empty())))
                .build(version)
                .serializeWithHeader(header);
        String[] address = from.bootstrapServers().split(":");
        try (Socket socket = new Socket(address[0], Integer.parseInt(address[1]))) {
            socket.setSoTimeout(Math.toIntExact(TIMEOUT.toMillis()));
            DataOutputStream out = new DataOutputStream(socket.getOutputStream());
            out.writeInt(request.remaining());
            out.write(request.array(), request.arrayOffset() + request.position(), request.remaining());
            out.flush();
            DataInputStream in = new DataInputStream(socket.getInputStream());
            byte[] response = new byte[in.readInt()];
            in.readFully(response);
            FetchResponse fetched = (FetchResponse) AbstractResponse.parseResponse(ByteBuffer.wrap(response), header);
            FetchableTopicResponse responseOfTopic = fetched.data().responses().get(0);
            List<RecordBatch> batches = new ArrayList<>();
            ((MemoryRecords) responseOfTopic.partitions().get(0).records())
                    .batches()
                    .forEach(batches::add);
            return batches;
        }
    }

    private static BatchMetadata metadata(RecordBatch batch) {
        return new BatchMetadata(
                batch.baseOffset(),
                batch.lastOffset(),
                batch.producerId(),
                batch.producerEpoch(),
                batch.baseSequence(),
                batch.lastSequence(),
                batch.isTransactional(),
                batch.isControlBatch(),
                batch.partitionLeaderEpoch(),
                batch.timestampType().name);
    }

    private static List<Long> offsets(List<RecordBatch> batches) {
        List<Long> offsets = new ArrayList<>();
        for (RecordBatch batch : batches) {
            for (Record record : batch) {
                offsets.add(record.offset());
            }
        }
        return offsets;
    }

    /** Returns the names of the proxy's threads that serve this client. */
    private static List<String> threads(Socket client) {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("tampering-proxy-") && name.endsWith("-" + client.getLocalPort()))
                .toList();
    }
}

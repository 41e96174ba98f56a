package dev.puri.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import kafka.server.BrokerServer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.internals.Topic;
import org.apache.kafka.common.message.DescribeProducersResponseData.ProducerState;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.coordinator.transaction.TransactionLog;
import org.apache.kafka.coordinator.transaction.TransactionState;
import org.apache.kafka.coordinator.transaction.generated.TransactionLogValue;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests what happens to transactions when the broker is killed. Each transaction has its own topic and producer. */
class KilledBrokerIT {
    /** The coordinator has decided to commit this transaction, but has written no marker yet. */
    private static final String DECIDED = "decided";

    /** The coordinator has not decided about this transaction. */
    private static final String OPEN = "open";

    @TempDir
    private Path data;

    @Test
    void decidedTransactionsAreCompletedAndOpenTransactionsAreAborted() throws Exception {
        killWithOpenTransactions();
        try (EmbeddedBroker broker = EmbeddedBroker.start(data, 0)) {
            await().atMost(Duration.ofSeconds(60)).until(() -> isReadToItsEnd(broker, DECIDED));
            assertThat(committed(broker, DECIDED)).containsExactly("v");
            // When the producer starts again, the coordinator aborts its open transaction.
            producer(broker, OPEN).close();
            await().atMost(Duration.ofSeconds(60)).until(() -> isReadToItsEnd(broker, OPEN));
            assertThat(committed(broker, OPEN)).isEmpty();
        }
    }

    private void killWithOpenTransactions() throws Exception {
        File output = Files.createTempFile("killed-broker", ".log").toFile();
        Process killed = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Killed.class.getName(),
                        data.toString())
                .redirectErrorStream(true)
                .redirectOutput(output)
                .start();
        try {
            assertThat(killed.waitFor(3, TimeUnit.MINUTES)).isTrue();
            assertThat(killed.exitValue()).as(Files.readString(output.toPath())).isEqualTo(Killed.STATUS);
        } finally {
            killed.destroyForcibly();
            Files.delete(output.toPath());
        }
    }

    private static KafkaConsumer<String, String> consumer(EmbeddedBroker broker, String isolation) {
        return new KafkaConsumer<>(
                Map.of(
                        "bootstrap.servers",
                        broker.bootstrapServers(),
                        "isolation.level",
                        isolation,
                        "enable.auto.commit",
                        "false"),
                new StringDeserializer(),
                new StringDeserializer());
    }

    private static boolean isReadToItsEnd(EmbeddedBroker broker, String topic) {
        try (KafkaConsumer<String, String> committed = consumer(broker, "read_committed");
                KafkaConsumer<String, String> all = consumer(broker, "read_uncommitted")) {
            List<TopicPartition> partition = List.of(new TopicPartition(topic, 0));
            return committed.endOffsets(partition).equals(all.endOffsets(partition));
        }
    }

    private static List<String> committed(EmbeddedBroker broker, String topic) {
        try (KafkaConsumer<String, String> consumer = consumer(broker, "read_committed")) {
            List<TopicPartition> partition = List.of(new TopicPartition(topic, 0));
            long end = consumer.endOffsets(partition).values().iterator().next();
            consumer.assign(partition);
            consumer.seekToBeginning(partition);
            List<String> values = new ArrayList<>();
            while (consumer.position(partition.get(0)) < end) {
                consumer.poll(Duration.ofMillis(100)).forEach(each -> values.add(each.value()));
            }
            return values;
        }
    }

    private static KafkaProducer<String, String> producer(EmbeddedBroker broker, String name) {
        KafkaProducer<String, String> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", broker.bootstrapServers(), "transactional.id", name),
                new StringSerializer(),
                new StringSerializer());
        producer.initTransactions();
        return producer;
    }

    /** Runs a broker, creates the transactions and halts, as {@code kill -9} does. */
    static final class Killed {
        static final int STATUS = 9;

        private Killed() {}

        public static void main(String[] args) throws Exception {
            EmbeddedBroker broker = EmbeddedBroker.start(Path.of(args[0]), 0);
            List<String> topics = List.of(DECIDED, OPEN);
            try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
                admin.createTopics(topics.stream()
                                .map(topic -> new NewTopic(topic, Optional.of(1), Optional.empty()))
                                .toList())
                        .all()
                        .get(60, TimeUnit.SECONDS);
            }
            for (String topic : topics) {
                KafkaProducer<String, String> producer = producer(broker, topic);
                producer.beginTransaction();
                producer.send(new ProducerRecord<>(topic, "v")).get(60, TimeUnit.SECONDS);
            }
            decideToCommit(broker.server());
            Runtime.getRuntime().halt(STATUS);
        }

        /**
         * Appends the decision about {@link #DECIDED} to the transaction log. The coordinator itself would write the
         * markers at once.
         */
        private static void decideToCommit(BrokerServer server) throws Exception {
            ProducerState producer = log(server, new TopicPartition(DECIDED, 0)).activeProducers().stream()
                    .filter(each -> each.currentTxnStartOffset() >= 0)
                    .findFirst()
                    .orElseThrow();
            TransactionLogValue value = new TransactionLogValue()
                    .setProducerId(producer.producerId())
                    .setProducerEpoch((short) (producer.producerEpoch() + 1))
                    .setTransactionTimeoutMs(60_000)
                    .setTransactionStatus(TransactionState.PREPARE_COMMIT.id())
                    .setTransactionStartTimestampMs(System.currentTimeMillis())
                    .setTransactionLastUpdateTimestampMs(System.currentTimeMillis())
                    .setTransactionPartitions(List.of(new TransactionLogValue.PartitionsSchema()
                            .setTopic(DECIDED)
                            .setPartitionIds(List.of(0))))
                    .setClientTransactionVersion((short) 2);
            int coordinator = server.transactionCoordinator().partitionFor(DECIDED);
            UnifiedLog log = log(server, new TopicPartition(Topic.TRANSACTION_STATE_TOPIC_NAME, coordinator));
            log.appendAsLeader(
                    MemoryRecords.withRecords(
                            Compression.NONE,
                            new SimpleRecord(
                                    System.currentTimeMillis(),
                                    TransactionLog.keyToBytes(DECIDED),
                                    MessageUtil.toVersionPrefixedBytes((short) 1, value))),
                    0,
                    AppendOrigin.COORDINATOR);
        }

        private static UnifiedLog log(BrokerServer server, TopicPartition partition) {
            return server.logManager().getLog(partition, false).get();
        }
    }
}

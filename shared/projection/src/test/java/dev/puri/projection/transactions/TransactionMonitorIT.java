package dev.puri.projection.transactions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.testkit.Broker;
import dev.puri.testkit.HangingTransaction;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Finds hanging transactions on a real broker. The test controls the clock of the monitor. */
@Timeout(120)
final class TransactionMonitorIT {
    private final String bootstrapServers = Broker.shared().bootstrapServers();
    private final String topic = "followed-" + Uuid.randomUuid();
    private final TopicPartition partition = new TopicPartition(topic, 1);
    private final AtomicLong nanos = new AtomicLong();
    private final TransactionMonitor monitor = new TransactionMonitor(
            () -> new BrokerTransactions(Map.of(), bootstrapServers, topic::equals),
            name -> true,
            nanos::get,
            new SimpleMeterRegistry());

    @BeforeEach
    void createTopic() throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrapServers))) {
            admin.createTopics(List.of(new NewTopic(topic, 2, (short) 1))).all().get();
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> admin.listTopics().names().get().contains(topic));
        }
    }

    @AfterEach
    void close() {
        monitor.close();
    }

    @Test
    void namesATransactionThatTheCoordinatorHasCommittedElsewhere() {
        HangingTransaction left =
                HangingTransaction.leaveCommitted(bootstrapServers, partition, topic, new TopicPartition(topic, 0));
        monitor.check();
        assertThat(monitor.unreadyReason()).isNull();
        checkAfter(OpenTransaction.MARKER_DELAY);

        assertThat(monitor.unreadyReason())
                .contains(
                        partition + " cannot be read beyond offset 0",
                        "producer " + left.producerId(),
                        "transactional id " + topic,
                        "has committed it elsewhere");

        left.abort();
        awaitNothingHangs();
    }

    @Test
    void namesATransactionThatTheCoordinatorDoesNotKnow() {
        HangingTransaction left = HangingTransaction.leave(bootstrapServers, partition, topic);
        monitor.check();
        checkAfter(OpenTransaction.MARKER_DELAY);

        assertThat(monitor.unreadyReason())
                .contains("producer " + left.producerId(), "its coordinator does not know it");

        left.abort();
        awaitNothingHangs();
    }

    @Test
    void givesAnotherProducersLongTransactionItsTime() {
        Map<String, Object> config = new HashMap<>(
                Map.of("bootstrap.servers", bootstrapServers, "transactional.id", topic, "linger.ms", "0"));
        config.put("transaction.timeout.ms", "600000");
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>(topic, 1, null, new byte[0]));
            producer.flush();
            monitor.check();
            checkAfter(Duration.ofMinutes(10).plusSeconds(19));
            assertThat(monitor.unreadyReason()).isNull();

            checkAfter(Duration.ofSeconds(1));
            assertThat(monitor.unreadyReason())
                    .contains("transactional id " + topic, "has not aborted it after its timeout");

            producer.commitTransaction();
            awaitNothingHangs();
        }
    }

    @Test
    void aDeletedTopicNoLongerHangs() throws Exception {
        HangingTransaction.leave(bootstrapServers, partition, topic);
        monitor.check();
        checkAfter(OpenTransaction.MARKER_DELAY);
        assertThat(monitor.unreadyReason()).isNotNull();
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrapServers))) {
            admin.deleteTopics(List.of(topic)).all().get();
        }
        await().atMost(Duration.ofSeconds(60)).ignoreExceptions().until(() -> {
            monitor.check();
            return monitor.unreadyReason() == null;
        });
    }

    private void checkAfter(Duration time) {
        nanos.addAndGet(time.toNanos());
        monitor.check();
    }

    private void awaitNothingHangs() {
        await().atMost(Duration.ofSeconds(30)).until(() -> {
            monitor.check();
            return monitor.unreadyReason() == null;
        });
    }
}

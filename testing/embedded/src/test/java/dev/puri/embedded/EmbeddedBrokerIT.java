package dev.puri.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedBrokerIT {
    @TempDir
    private Path data;

    @Test
    void advertisesTheLoopbackPortItListensOn() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(data, 0);
                Admin admin = admin(broker)) {
            Node node = admin.describeCluster().nodes().get(30, TimeUnit.SECONDS).stream()
                    .findFirst()
                    .orElseThrow();
            assertThat(node.host()).isEqualTo("127.0.0.1");
            assertThat(node.port()).isEqualTo(broker.port()).isPositive();
            assertThat(broker.bootstrapServers()).isEqualTo("127.0.0.1:" + node.port());
        }
    }

    @Test
    void transactionsAndGroupsWorkOnOneBrokerAndRecordsAreKeptOverARestart() throws Exception {
        int port;
        try (EmbeddedBroker broker = EmbeddedBroker.start(data, 0)) {
            port = broker.port();
            create(broker, "kept");
            try (Producer<String, String> producer = producer(broker, Map.of("transactional.id", "t"))) {
                producer.initTransactions();
                producer.beginTransaction();
                producer.send(new ProducerRecord<>("kept", "k", "before"));
                producer.commitTransaction();
            }
            assertThat(poll(broker, "kept")).isEqualTo("before");
        }
        try (EmbeddedBroker broker = EmbeddedBroker.start(data, port)) {
            assertThat(broker.port()).isEqualTo(port);
            assertThat(poll(broker, "kept")).isEqualTo("before");
        }
    }

    @Test
    void topicsAreNotCreatedAutomatically() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(data, 0);
                Producer<String, String> producer = producer(broker, Map.of("max.block.ms", "1000"));
                Admin admin = admin(broker)) {
            assertThatThrownBy(() ->
                            producer.send(new ProducerRecord<>("absent", "v")).get(10, TimeUnit.SECONDS))
                    .hasMessageContaining("absent");
            assertThat(admin.listTopics().names().get(10, TimeUnit.SECONDS)).isEmpty();
        }
    }

    @Test
    void twoBrokersRunInOneProcess(@TempDir Path otherData) throws Exception {
        try (EmbeddedBroker one = EmbeddedBroker.start(data, 0)) {
            try (EmbeddedBroker other = EmbeddedBroker.start(otherData, 0)) {
                assertThat(other.port()).isNotEqualTo(one.port());
                create(other, "only-there");
            }
            create(one, "only-here");
            try (Admin admin = admin(one)) {
                assertThat(admin.listTopics().names().get(10, TimeUnit.SECONDS)).containsExactly("only-here");
            }
        }
    }

    @Test
    void aPortInUseIsNamed() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            assertThatThrownBy(() -> EmbeddedBroker.start(data, taken.getLocalPort()))
                    .isInstanceOf(EmbeddedException.class)
                    .hasMessageContaining("127.0.0.1:" + taken.getLocalPort())
                    .hasMessageContaining("choose another port");
        }
    }

    @Test
    void aDirectoryInUseIsNamedAndItsHolderIsNotDisturbed() throws Exception {
        try (EmbeddedBroker holder = EmbeddedBroker.start(data, 0)) {
            assertThatThrownBy(() -> EmbeddedBroker.start(data, 0))
                    .isInstanceOf(EmbeddedException.class)
                    .hasMessageContaining(data.toString())
                    .hasMessageContaining("in use");
            create(holder, "still-served");
        }
        EmbeddedBroker.start(data, 0).close();
    }

    @Test
    void closingTwiceIsHarmless() {
        EmbeddedBroker broker = EmbeddedBroker.start(data, 0);
        broker.close();
        broker.close();
    }

    private static void create(EmbeddedBroker broker, String topic) throws Exception {
        try (Admin admin = admin(broker)) {
            admin.createTopics(List.of(new NewTopic(topic, Optional.of(1), Optional.empty())))
                    .all()
                    .get(30, TimeUnit.SECONDS);
        }
    }

    private static Admin admin(EmbeddedBroker broker) {
        return Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()));
    }

    private static Producer<String, String> producer(EmbeddedBroker broker, Map<String, String> more) {
        Map<String, Object> settings = new HashMap<>(more);
        settings.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, broker.bootstrapServers());
        return new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
    }

    private static String poll(EmbeddedBroker broker, String topic) {
        Map<String, Object> settings = Map.of(
                ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, broker.bootstrapServers(),
                ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed",
                ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        try (Consumer<String, String> consumer =
                new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            List<TopicPartition> partitions = List.of(new TopicPartition(topic, 0));
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            for (int attempt = 0; attempt < 100; attempt++) {
                for (ConsumerRecord<String, String> found : consumer.poll(Duration.ofMillis(200))) {
                    return found.value();
                }
            }
            throw new AssertionError("no record arrived in " + topic);
        }
    }
}

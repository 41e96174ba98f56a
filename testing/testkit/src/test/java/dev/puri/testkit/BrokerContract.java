package dev.puri.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;

/** Tests that every kind of broker must pass. */
abstract class BrokerContract {
    abstract RestartableBroker start();

    @Test
    void aRestartKeepsRecordsAndAddress() throws Exception {
        try (RestartableBroker broker = start()) {
            String address = broker.bootstrapServers();
            createTopic(broker, "kept");
            send(broker, "kept", "before");
            broker.stop();
            broker.stop();
            assertThatThrownBy(() -> send(broker, "kept", "lost")).hasMessageContaining("kept");
            broker.start();
            broker.start();
            assertThat(broker.bootstrapServers()).isEqualTo(address);
            assertThat(first(broker, "kept")).isEqualTo("before");
        }
    }

    @Test
    void topicsAreNotCreatedAutomatically() {
        try (RestartableBroker broker = start()) {
            assertThatThrownBy(() -> send(broker, "absent", "lost")).hasMessageContaining("absent");
        }
    }

    static void createTopic(Broker broker, String topic) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
            admin.createTopics(List.of(new NewTopic(topic, Optional.of(1), Optional.empty())))
                    .all()
                    .get(30, TimeUnit.SECONDS);
        }
    }

    static void send(Broker broker, String topic, String value) throws Exception {
        Map<String, Object> settings = Map.of("bootstrap.servers", broker.bootstrapServers(), "max.block.ms", "3000");
        try (Producer<String, String> producer =
                new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
            producer.send(new ProducerRecord<>(topic, value)).get(30, TimeUnit.SECONDS);
        }
    }

    static String first(Broker broker, String topic) {
        Map<String, Object> settings =
                Map.of("bootstrap.servers", broker.bootstrapServers(), "enable.auto.commit", "false");
        try (Consumer<String, String> consumer =
                new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
            List<TopicPartition> partitions = List.of(new TopicPartition(topic, 0));
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            for (int attempt = 0; attempt < 150; attempt++) {
                for (ConsumerRecord<String, String> found : consumer.poll(Duration.ofMillis(200))) {
                    return found.value();
                }
            }
            throw new AssertionError("no record arrived in " + topic);
        }
    }
}

package dev.puri.cli.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.cli.io.RateLimiter;
import dev.puri.registry.RegistrarChangelogs;
import dev.puri.schemas.log.Topics;
import dev.puri.testkit.Broker;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Compares a changelog and a topic whose values are plain texts. */
class LogComparisonIT {
    private final String suffix = UUID.randomUUID().toString();
    private final TopicPartition changelog = new TopicPartition("changelog-" + suffix, 0);
    private final TopicPartition topic = new TopicPartition("topic-" + suffix, 0);
    private final List<Difference> differences = new ArrayList<>();

    /** Called before each value of the topic is decoded. */
    private Runnable onDecode = () -> {};

    private Producer<byte[], byte[]> producer;

    @BeforeEach
    void start() throws Exception {
        Map<String, Object> brokers =
                Map.of("bootstrap.servers", Broker.shared().bootstrapServers());
        try (Admin admin = Admin.create(brokers)) {
            if (!admin.listTopics().names().get().contains(Topics.EVENTS)) {
                admin.createTopics(List.of(new NewTopic(Topics.EVENTS, 1, (short) 1)))
                        .all()
                        .get();
            }
            admin.createTopics(List.of(
                            new NewTopic(changelog.topic(), 1, (short) 1), new NewTopic(topic.topic(), 1, (short) 1)))
                    .all()
                    .get();
        }
        producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", Broker.shared().bootstrapServers(), "transactional.id", "writer-" + suffix),
                new ByteArraySerializer(),
                new ByteArraySerializer());
        producer.initTransactions();
    }

    @AfterEach
    void stop() {
        producer.close();
    }

    @Test
    void namesEachDifferenceHoweverFewKeysFitIntoMemory() {
        producer.beginTransaction();
        for (int i = 0; i < 100; i++) {
            change("a:b:" + i, "old");
            change("a:b:" + i, "value " + i);
        }
        send(topic, "a:b:1", "other");
        send(topic, "a:b:2", null);
        send(topic, "a:b:new", "value");
        producer.commitTransaction();

        for (int maxSize : new int[] {1_000_000, 9}) {
            differences.clear();
            Check.Result result = compare(maxSize);
            assertThat(result.rows()).isEqualTo(101);
            assertThat(result.expectedRows()).isEqualTo(100);
            assertThat(differences.stream().map(difference -> difference.puri() + " " + difference.kind()))
                    .containsExactlyInAnyOrder("a:b:1 differs", "a:b:2 missing", "a:b:new extra");
            assertThat(differences)
                    .filteredOn(difference -> "a:b:1".equals(difference.puri()))
                    .allSatisfy(difference -> assertThat(difference.fields())
                            .isEqualTo(Map.of("text", new Difference.Field("value 1", "other"))));
        }
    }

    @Test
    void aKeyThatChangesDuringTheComparisonIsComparedAgain() {
        producer.beginTransaction();
        change("a:b:1", "value");
        send(topic, "a:b:1", "wrong");
        producer.commitTransaction();
        int[] changes = {0};
        onDecode = () -> {
            if (changes[0]++ == 1) {
                producer.beginTransaction();
                change("a:b:1", "right");
                producer.commitTransaction();
            }
        };
        Check.Result result = compare(1_000_000);
        assertThat(differences).isEmpty();
        assertThat(result.notCompared()).isZero();
    }

    @Test
    void aKeyThatChangesInEachComparisonIsNotEqual() {
        producer.beginTransaction();
        change("a:b:1", "value");
        send(topic, "a:b:1", "wrong");
        producer.commitTransaction();
        int[] changes = {0};
        onDecode = () -> {
            producer.beginTransaction();
            send(topic, "a:b:1", "wrong " + changes[0]++);
            producer.commitTransaction();
        };
        Check.Result result = compare(1_000_000);
        assertThat(differences).isEmpty();
        assertThat(result.notCompared()).isEqualTo(1);
    }

    @Test
    void failsIfATransactionDoesNotEnd() {
        producer.beginTransaction();
        change("a:b:1", "value");
        send(topic, "a:b:1", "wrong");
        producer.commitTransaction();
        producer.beginTransaction();
        send(topic, "a:b:1", "value");
        producer.flush();
        assertThatThrownBy(() -> compare(1_000_000, Duration.ofSeconds(1)))
                .isInstanceOf(VerifyException.class)
                .hasMessageContaining("a transaction in " + topic);
        producer.abortTransaction();
    }

    private Check.Result compare(int maxSize) {
        return compare(maxSize, Duration.ofSeconds(60));
    }

    private Check.Result compare(int maxSize, Duration timeout) {
        Map<String, Object> properties = Map.of(
                "bootstrap.servers", Broker.shared().bootstrapServers(), "schema.registry.url", "http://127.0.0.1:9");
        try (RegistryReader registry =
                new RegistryReader(properties, "puri-registry", timeout, new RateLimiter(null))) {
            return new LogComparison(registry, new TextLogs(), columns -> maxSize).run(differences::add);
        }
    }

    private void change(String puri, String text) {
        send(changelog, puri, text);
        send(topic, puri, text);
    }

    private void send(TopicPartition partition, String puri, @Nullable String text) {
        byte[] key = utf8(puri);
        producer.send(new ProducerRecord<>(
                partition.topic(),
                partition.partition(),
                partition.equals(topic) ? key : RegistrarChangelogs.key(key),
                text == null ? null : utf8(text)));
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private final class TextLogs implements ComparedLogs {
        @Override
        public List<TopicPartition> logs() {
            return List.of(changelog, topic);
        }

        @Override
        public Object decode(int logIndex, byte[] value) {
            if (logIndex == 1) {
                onDecode.run();
            }
            return new String(value, StandardCharsets.UTF_8);
        }

        @Override
        public long hash(int logIndex, Object value) {
            return Hashes.present(value.hashCode());
        }

        @Override
        public long expectedHash(long[] hashes) {
            return hashes[0];
        }

        @Override
        public @Nullable Map<String, String> expected(@Nullable Object[] values) {
            return values[0] == null ? null : found(values[0]);
        }

        @Override
        public Map<String, String> found(Object value) {
            return Map.of("text", value.toString());
        }
    }
}

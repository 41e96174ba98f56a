package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.avro.EventPosition;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.log.Erasure;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.AvroSerializer;
import dev.puri.testkit.Broker;
import dev.puri.testkit.RestartableBroker;
import dev.puri.testkit.SchemaRegistryFixture;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Commands that read a topic of rejections with two partitions, whose records have the times that a test chooses. */
class RejectionLogIT {
    private final Instant start = Instant.now().truncatedTo(ChronoUnit.HOURS).minus(2, ChronoUnit.DAYS);

    private RestartableBroker broker;
    private Map<String, String> environment;
    private Producer<byte[], @Nullable Object> producer;

    @BeforeEach
    void start() throws Exception {
        broker = Broker.start();
        String schemaRegistry = SchemaRegistryFixture.shared().url();
        environment =
                Map.of("PURI_BOOTSTRAP_SERVER", broker.bootstrapServers(), "PURI_SCHEMA_REGISTRY", schemaRegistry);
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
            admin.createTopics(List.of(
                            new NewTopic(Topics.EVENTS, 2, (short) 1), new NewTopic(Topics.REJECTIONS, 2, (short) 1)))
                    .all()
                    .get();
        }
        AvroSerializer serializer = new AvroSerializer();
        serializer.configure(Map.of("schema.registry.url", schemaRegistry), false);
        producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", broker.bootstrapServers()), new ByteArraySerializer(), serializer);
    }

    @AfterEach
    void stop() {
        producer.close();
        broker.close();
    }

    @Test
    void omitsARefusalWhoseSurvivorWasErasedInAnotherPartition() {
        reject(0, "a:b:1", null, 1);
        reject(0, "a:b:2", "a:b:survivor", 2);
        erase(1, "a:b:survivor", 3);
        for (int i = 0; i < 5; i++) {
            erase(1, "a:b:other" + i, 4);
        }
        producer.flush();

        assertThat(listed(1)).containsExactly("a:b:1");
        assertThat(listed(2)).containsExactly("a:b:1");
    }

    @Test
    void readsARefusalThatManyErasuresFollow() {
        for (int i = 0; i < 5; i++) {
            reject(0, "a:b:old" + i, null, i);
        }
        reject(1, "a:b:new", null, 10);
        for (int i = 0; i < 5; i++) {
            erase(1, "a:b:other" + i, 11);
        }
        producer.flush();

        assertThat(listed(1)).containsExactly("a:b:new");
        assertThat(listed(2)).containsExactly("a:b:old4", "a:b:new");
        assertThat(listed(100)).hasSize(6);
    }

    @Test
    void aReplayOfTooManyRefusalsSaysHowToReplayThemInParts() {
        for (int i = 0; i < ReplayRejectionsCommand.MAX_SELECTED + 1; i++) {
            reject(i % 2, "a:b:" + i, null, i);
        }
        producer.flush();

        CommandLineRun all = CommandLineRun.of(environment, "rejections", "replay", "--all");
        assertThat(all.status()).isEqualTo(ExitStatus.FAILED);
        assertThat(all.out()).isEmpty();
        assertThat(all.err().strip())
                .isEqualTo("puri: more than 100000 refusals match; replay them in parts, the oldest first: select each"
                        + " part with --since and --until");

        String end = start.plusSeconds(2).toString();
        CommandLineRun part = CommandLineRun.of(environment, "-o", "json", "rejections", "replay", "--until", end);
        assertThat(part.status()).as(part.err()).isZero();
        assertThat(part.outLines()).hasSize(2);
    }

    /** Returns the pURIs that the list without a filter has. */
    private List<String> listed(int count) {
        CommandLineRun run =
                CommandLineRun.of(environment, "-o", "json", "rejections", "list", "-n", Integer.toString(count));
        assertThat(run.status()).as(run.err()).isZero();
        return run.outLines().stream()
                .map(line -> Json.parse(line).path("puri").asText())
                .toList();
    }

    private void reject(int partition, String puri, @Nullable String survivor, long seconds) {
        EventPosition position = new EventPosition(Topics.EVENTS, partition, seconds);
        Rejection rejection = Rejections.taken(puri, survivor, position, start.plusSeconds(seconds));
        producer.send(record(partition, puri, rejection, seconds));
    }

    private void erase(int partition, String puri, long seconds) {
        ProducerRecord<byte[], @Nullable Object> record = record(partition, puri, null, seconds);
        Map.of(
                        Position.HEADER, "1-7",
                        Outcome.HEADER, Outcome.APPLIED.toString(),
                        Erasure.TIME_HEADER, Long.toString(record.timestamp()))
                .forEach((name, value) -> record.headers().add(name, utf8(value)));
        producer.send(record);
    }

    private ProducerRecord<byte[], @Nullable Object> record(
            int partition, String puri, @Nullable Object value, long seconds) {
        return new ProducerRecord<>(
                Topics.REJECTIONS, partition, start.plusSeconds(seconds).toEpochMilli(), utf8(puri), value);
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}

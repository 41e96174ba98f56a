package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.EventAvro;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Row;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.RecordWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** A random history on a real broker, with the topology killed in the middle of it, against the model. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RegistryStreamsFaultIT {
    private static final int EVENTS = 15_000;
    private static final int NAMES = 150;
    private static final Duration LATE = Duration.ofMinutes(2);

    private final long seed = Long.getLong("puri.seed", 20_261_120L);
    private final Random random = new Random(seed);
    private final Map<Position, Event> published = new ConcurrentHashMap<>();
    private RegistryStack stack;

    @BeforeAll
    void start() {
        stack = new RegistryStack(RegistryStack.sharedSchemaRegistry(), Set.of());
        // A namespace's topic may have any number of partitions, and here it has fewer.
        RegistryTopics.create(stack.admin(), RegistryStack.PARTITIONS - 1, (short) 1, Set.of("music"));
        stack.declare(RandomEvents.DECLARED);
    }

    @AfterAll
    void stop() {
        stack.close();
    }

    @Test
    void aRestartAfterAKillNeitherLosesNorDuplicatesAnything(@TempDir Path folder) throws Exception {
        StreamsSettings settings = stack.settings(folder.resolve("state"));
        Path log = folder.resolve("streams.log");
        Process process = StreamsProcess.start(settings, log);
        try {
            List<Event> events = events();
            publish(events.subList(0, EVENTS / 3));
            awaitAnswers(EVENTS / 10, log);

            StreamsProcess.kill(process);
            long killed = System.nanoTime();
            int before = answers();
            process = StreamsProcess.start(settings, log);
            publish(events.subList(EVENTS / 3, EVENTS - 1));
            awaitAnswers(before + 1, log);
            System.out.printf(
                    "first row %d ms after the kill, the new process's start included%n",
                    Duration.ofNanos(System.nanoTime() - killed).toMillis());

            awaitAnswers(EVENTS / 2, log);
            StreamsProcess.kill(process);
            process = StreamsProcess.start(settings, log);
            awaitAnswers(EVENTS - 1, log);
            // A duplicate would come before the answer to an event that is published now.
            publish(events.subList(EVENTS - 1, EVENTS));
            awaitAnswers(EVENTS, log);
        } finally {
            StreamsProcess.kill(process);
        }
        compare();
    }

    private List<Event> events() {
        RandomEvents generated = new RandomEvents(random, NAMES);
        List<Event> events = new ArrayList<>();
        for (int i = 0; i < EVENTS; i++) {
            boolean isReplay = i > 0 && random.nextInt(10) == 0;
            events.add(isReplay ? events.get(random.nextInt(i)) : generated.next());
        }
        return events;
    }

    private void publish(List<Event> events) {
        RecordWriter<IdentityEvent> writer = RecordWriter.of(IdentityEvent.class);
        int id;
        try (var registry = stack.registry()) {
            id = registry.register(Topics.EVENTS + "-value", writer.schema());
        }
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(stack.clientProperties(), new ByteArraySerializer(), new ByteArraySerializer())) {
            for (Event event : events) {
                String rightful = RandomEvents.rightfulTopic(event.puri());
                String other = rightful.equals(Topics.EVENTS) ? RandomEvents.MUSIC_TOPIC : Topics.EVENTS;
                String topic = random.nextInt(50) == 0 ? other : rightful;
                byte[] value = writer.encode(id, EventAvro.toAvro(event));
                producer.send(new ProducerRecord<>(topic, event.puri().toBytes(), value), (sent, failure) -> {
                    if (failure == null) {
                        published.put(new Position(topic, sent.partition(), sent.offset()), event);
                    }
                });
            }
        }
    }

    private void awaitAnswers(int count, Path log) throws Exception {
        try {
            await().atMost(LATE).pollInterval(Duration.ofMillis(20)).until(() -> answers() >= count);
        } catch (RuntimeException e) {
            throw new AssertionError(
                    "seed " + seed + ": " + answers() + " of " + count + " answers; " + Files.readString(log), e);
        }
    }

    /** Records of identities, and refusals of events in topics of others, which have none. */
    private int answers() {
        long misplaced = stack.look().rejections().stream()
                .filter(each ->
                        !each.getPosition().getTopic().equals(RandomEvents.rightfulTopic(Puri.parse(each.getPuri()))))
                .count();
        return stack.identities().size() + (int) misplaced;
    }

    private void compare() {
        assertThat(published).hasSize(EVENTS);
        Map<Position, Outcome> actual = stack.look().outcomes();
        Map<Position, Outcome> expected = new HashMap<>();
        Model model = new Model(RandomEvents.rules(), firstToAsk());
        // Within a pURI the rightful topic's order decides; partitions of one topic never share a pURI.
        List<Position> order = new ArrayList<>(published.keySet());
        order.sort(Comparator.comparing(Position::topic)
                .thenComparing(Position::partition)
                .thenComparing(Position::offset));
        long misplaced = 0;
        for (Position position : order) {
            Event event = published.get(position);
            if (position.topic().equals(RandomEvents.rightfulTopic(event.puri()))) {
                expected.put(position, model.decide(event, position, RandomEvents.isSearched(event.puri()), true));
            } else {
                misplaced++;
            }
        }
        assertThat(actual).as("seed " + seed).isEqualTo(expected);
        Map<Puri, Row> rows = stack.rows();
        assertThat(rows).as("seed " + seed).isEqualTo(model.rows());
        // They are written with the answers, and read from other partitions a moment later.
        await().atMost(LATE)
                .untilAsserted(() ->
                        assertThat(stack.look().documents()).as("seed " + seed).isEqualTo(model.documents()));
        Set<Handle> handles = new HashSet<>();
        rows.values()
                .forEach(row -> assertThat(row.handle() == null || handles.add(row.handle()))
                        .isTrue());
        long refused = misplaced
                + expected.values().stream()
                        .filter(outcome -> outcome.kind() == Outcome.Kind.REFUSED)
                        .count();
        await().atMost(LATE).until(() -> stack.look().rejections().size() >= refused);
        assertThat(stack.rejections()).hasSize((int) refused);
    }

    /** By handle, the identity that the clerk gave it to. */
    private Map<String, IdentityHash> firstToAsk() {
        Map<UUID, Event> byId = new HashMap<>();
        published.values().forEach(event -> byId.put(event.eventId(), event));
        Map<String, IdentityHash> holders = new HashMap<>();
        Map<String, Object> properties = new HashMap<>(stack.clientProperties());
        properties.put("isolation.level", "read_committed");
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = new ArrayList<>();
            for (int p = 0; p < RegistryStack.PARTITIONS; p++) {
                partitions.add(new TopicPartition(Topics.GRANTS, p));
            }
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            while (partitions.stream().anyMatch(p -> consumer.position(p) < ends.get(p))) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
                    Grant grant = Grant.fromBytes(record.value());
                    Event event = byId.get(grant.eventId());
                    if (grant.isGranted() && event.change() instanceof Change.Created created) {
                        holders.put(grant.handle().text(), IdentityHash.of(event.puri(), created.uuid()));
                    }
                }
            }
        }
        return holders;
    }
}

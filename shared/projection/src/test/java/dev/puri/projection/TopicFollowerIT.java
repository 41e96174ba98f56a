package dev.puri.projection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Refusal;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.InMemorySchemaRegistry;
import dev.puri.testkit.Broker;
import dev.puri.testkit.RestartableBroker;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Follows refusals and declarations on a real broker. */
@Timeout(120)
final class TopicFollowerIT {
    /** Large, because the refusals of these tests have old times. */
    private static final Duration ANY_AGE = Duration.ofDays(365 * 1000);

    private static final Puri TRACK = Puri.parse("music:tracks:1");
    private static final List<String> TOPICS = List.of(Topics.REJECTIONS, Topics.COLLECTIONS);

    private static RestartableBroker broker;
    private static Admin admin;
    private static KafkaProducer<byte[], byte[]> producer;

    private final InMemorySchemaRegistry registry = new InMemorySchemaRegistry();
    private final Written written = new Written(registry);
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

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
    void createTopics() throws Exception {
        admin.createTopics(List.of(
                        new NewTopic(Topics.REJECTIONS, 3, (short) 1)
                                .configs(Map.of("message.timestamp.type", "LogAppendTime")),
                        new NewTopic(Topics.COLLECTIONS, 1, (short) 1).configs(Map.of("cleanup.policy", "compact"))))
                .all()
                .get();
    }

    @AfterEach
    void deleteTopics() throws Exception {
        admin.deleteTopics(TOPICS).all().get();
        await().atMost(Duration.ofSeconds(30))
                .until(() -> admin.listTopics().names().get().stream().noneMatch(TOPICS::contains));
    }

    @Test
    void aRefusalIsFoundByItsTokenRightAfterItWasWritten() throws Exception {
        try (RefusalLog log = refusals(100)) {
            await().atMost(Duration.ofSeconds(30)).until(log.follower()::hasCaughtUp);
            CompletableFuture<@Nullable Refusal> coming =
                    log.awaitAt(Written.position(7), Duration.ofSeconds(30)).toCompletableFuture();
            producer.beginTransaction();
            assertThat(producer.send(written.record(Written.taken(TRACK.toString(), 6, 1))))
                    .isNotNull();
            producer.flush();
            producer.abortTransaction();

            write(written.record(Written.taken(TRACK.toString(), 7, 1)));

            assertThat(coming.get(30, TimeUnit.SECONDS)).isNotNull();
            assertThat(log.find(Written.position(7))).isPresent();
            assertThat(log.latestOf(TRACK, 10)).hasSize(1);
        }
    }

    @Test
    void atTheStartTheLastRefusalsAreKnown() {
        for (int i = 0; i < 60; i++) {
            write(written.record(Written.taken("music:tracks:" + i, i, i)));
        }
        try (RefusalLog log = refusals(10)) {
            await().atMost(Duration.ofSeconds(30)).until(log.follower()::hasCaughtUp);
            assertThat(log.latest(100).stream()
                            .map(refused -> (int) refused.position().offset()))
                    .containsExactlyElementsOf(
                            IntStream.range(0, 10).map(i -> 59 - i).boxed().toList());
        }
    }

    @Test
    void publicNamesFollowTheirDeclaration() {
        write(written.record(Written.tracks(true)));
        try (DeclaredCollections collections = collections()) {
            assertThat(collections.isPublic(TRACK.qualifiedCollection())).isFalse();
            await().atMost(Duration.ofSeconds(30)).until(() -> collections.isPublic(TRACK.qualifiedCollection()));

            write(written.record(Written.tracks(false)));
            await().atMost(Duration.ofSeconds(30)).until(() -> !collections.isPublic(TRACK.qualifiedCollection()));
            assertThat(collections.isFresh()).isTrue();
            assertThat(Objects.requireNonNull(collections.declarations().collectionOf(TRACK))
                            .isPublic())
                    .isFalse();

            write(written.record(Written.tracks(true)));
            await().atMost(Duration.ofSeconds(30)).until(() -> collections.isPublic(TRACK.qualifiedCollection()));
        }
    }

    @Test
    void namesBecomePublicAlthoughReadingFailedWithErrorsAtFirst() {
        write(written.record(Written.tracks(true)));
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>(List.of(
                new OutOfMemoryError("a test's"), new NoClassDefFoundError(), new IllegalStateException("a bug")));
        List<String> troubles = new CopyOnWriteArrayList<>();
        AtomicReference<DeclaredCollections> made = new AtomicReference<>();
        Supplier<Consumer<byte[], byte[]>> failing = () -> {
            DeclaredCollections collections = made.get();
            if (collections != null && collections.follower().failureReason() != null) {
                troubles.add(collections.follower().failureReason());
            }
            Throwable failure = failures.poll();
            if (failure instanceof Error error) {
                throw error;
            } else if (failure instanceof RuntimeException bug) {
                throw bug;
            }
            return consumers().get();
        };
        try (DeclaredCollections collections =
                DeclaredCollections.start(failing, registry, Duration.ofSeconds(4), InstantSource.system(), meters)) {
            made.set(collections);

            await().atMost(Duration.ofSeconds(30)).until(() -> collections.isPublic(TRACK.qualifiedCollection()));
            assertThat(troubles).last().asString().contains("a bug");
            assertThat(collections.follower().failureReason()).isNull();
        }
    }

    @Test
    void noNameIsPublicWhileTheBrokersAreUnreachable() {
        write(written.record(Written.tracks(true)));
        try (DeclaredCollections collections = collections()) {
            await().atMost(Duration.ofSeconds(30)).until(() -> collections.isPublic(TRACK.qualifiedCollection()));
            broker.stop();
            try {
                await().atMost(Duration.ofSeconds(30)).until(() -> !collections.isPublic(TRACK.qualifiedCollection()));
                assertThat(collections.declarations().collections()).hasSize(1);
            } finally {
                broker.start();
            }
            await().atMost(Duration.ofSeconds(60)).until(() -> collections.isPublic(TRACK.qualifiedCollection()));
        }
    }

    @Test
    void readsALateOrRecreatedTopicFromItsBeginning() throws Exception {
        deleteTopics();
        try (DeclaredCollections collections = collections();
                RefusalLog log = refusals(10)) {
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> log.follower().failureReason() != null
                            && Objects.requireNonNull(log.follower().failureReason())
                                    .contains("there is no such topic"));
            createTopics();
            write(written.record(Written.tracks(true)), written.record(Written.taken("a:b:c", 1, 1)));
            await().atMost(Duration.ofSeconds(30)).until(() -> collections.isPublic(TRACK.qualifiedCollection()));
            await().atMost(Duration.ofSeconds(30)).until(() -> log.latest(10).size() == 1);

            deleteTopics();
            createTopics();
            write(written.record(Written.ownTopic("music")));

            await().atMost(Duration.ofSeconds(30))
                    .until(() ->
                            collections.isFresh() && collections.declarations().ownsTopic("music"));
            assertThat(collections.isPublic(TRACK.qualifiedCollection())).isFalse();
        }
    }

    @Test
    void aTemporarilyUnreadableRecordIsNotSkipped() {
        registry.setAway(true);
        write(written.record(Written.tracks(true)));
        try (DeclaredCollections collections = collections()) {
            await().during(Duration.ofSeconds(1))
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> !collections.follower().hasCaughtUp()
                            && !collections.isPublic(TRACK.qualifiedCollection()));

            registry.setAway(false);

            await().atMost(Duration.ofSeconds(30)).until(() -> collections.isPublic(TRACK.qualifiedCollection()));
        }
    }

    private RefusalLog refusals(int history) {
        return RefusalLog.start(consumers(), registry, history, ANY_AGE, 10, InstantSource.system(), meters);
    }

    private DeclaredCollections collections() {
        return DeclaredCollections.start(consumers(), registry, Duration.ofSeconds(4), InstantSource.system(), meters);
    }

    private static PlainConsumers consumers() {
        return new PlainConsumers(Map.of(), broker.bootstrapServers());
    }

    @SafeVarargs
    private static void write(ProducerRecord<byte[], byte[]>... records) {
        producer.beginTransaction();
        List<Future<RecordMetadata>> sent =
                Arrays.stream(records).map(producer::send).toList();
        producer.commitTransaction();
        assertThat(sent).allMatch(Future::isDone);
    }
}

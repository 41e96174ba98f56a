package dev.puri.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.puri.schemas.avro.IdentityEvent;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Prefix;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.EventAvro;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import dev.puri.testkit.Broker;
import dev.puri.testkit.RestartableBroker;
import dev.puri.testkit.SchemaRegistryFixture;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.utils.Utils;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class IdentityPublisherIT {
    private static final int PARTITIONS = 8;
    private static final Owner CATALOG = new Owner("catalog");
    private static final Shard BR_1 = new Shard("br-1");

    private static final Duration SOON = Duration.ofSeconds(60);

    private static final IdentityMinter MINTER = new IdentityMinter();

    @BeforeAll
    static void makeTopics() throws Exception {
        makeTopics(Broker.shared().bootstrapServers(), Topics.EVENTS, Topics.eventsTopicOf("music"));
    }

    private static void makeTopics(String bootstrapServers, String... topics) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrapServers))) {
            admin.createTopics(Stream.of(topics)
                            .map(topic -> new NewTopic(topic, Optional.of(PARTITIONS), Optional.empty()))
                            .toList())
                    .all()
                    .get(30, TimeUnit.SECONDS);
        }
    }

    private static Map<String, Object> properties() {
        return new HashMap<>(Map.of(
                "bootstrap.servers",
                Broker.shared().bootstrapServers(),
                "schema.registry.url",
                SchemaRegistryFixture.shared().url()));
    }

    private static Event event(String puri, Change change) {
        return new Event(
                MINTER.uuid(),
                Puri.parse(puri),
                Instant.parse("2026-11-20T00:00:00Z"),
                "IdentityPublisherIT",
                null,
                null,
                change);
    }

    private static Event created(String puri) {
        IdentityMinter.Minted ids = MINTER.mint(new Prefix("trk"));
        return event(puri, new Change.Created(ids.uuid(), CATALOG, BR_1, ids.handle(), Map.of("title", "Naïve")));
    }

    /** The record at a position, read by the serde that another service would use. */
    private static ConsumerRecord<byte[], Object> at(Position position) {
        Map<String, Object> config = properties();
        config.put("key.deserializer", ByteArrayDeserializer.class.getName());
        config.put("value.deserializer", "dev.puri.schemas.serde.AvroDeserializer");
        config.put("specific.avro.reader", "true");
        config.put("max.poll.records", "1");
        try (Consumer<byte[], Object> consumer = new KafkaConsumer<>(config)) {
            TopicPartition partition = new TopicPartition(position.topic(), position.partition());
            consumer.assign(Set.of(partition));
            consumer.seek(partition, position.offset());
            return consumer.poll(Duration.ofSeconds(30)).iterator().next();
        }
    }

    private static Position get(CompletionStage<Position> published) throws Exception {
        return published.toCompletableFuture().get(60, TimeUnit.SECONDS);
    }

    @Test
    void everyKindOfEventIsAtItsPosition() throws Exception {
        List<Event> events = List.of(
                created("SoundCloud:Tracks:1"),
                event("soundcloud:tracks:2", new Change.Moved(null, BR_1)),
                event("soundcloud:tracks:3", new Change.Moved(CATALOG, BR_1)),
                event("soundcloud:tracks:4", new Change.Described(Map.of("title", "b"))),
                event("soundcloud:tracks:5", new Change.Merged(Puri.parse("soundcloud:tracks:1"))),
                event("soundcloud:tracks:6", new Change.Deleted()),
                event("soundcloud:tracks:caf\u00e9%20", new Change.Erased()));
        try (IdentityPublisher publisher = new IdentityPublisher(properties())) {
            for (Event event : events) {
                Position position = get(publisher.publish(event));
                ConsumerRecord<byte[], Object> record = at(position);
                assertThat(new String(record.key(), StandardCharsets.UTF_8))
                        .isEqualTo(event.puri().toString());
                assertThat(record.value())
                        .isInstanceOfSatisfying(
                                IdentityEvent.class, avro -> assertThat(avro).isEqualTo(EventAvro.toAvro(event)));
                assertThat(record.offset()).isEqualTo(position.offset());
                assertThat(Position.parse(position.toString())).isEqualTo(position);
            }
        }
    }

    @Test
    void onlyTheKeyDeterminesThePartitionAsInEveryKafkaClient() throws Exception {
        try (IdentityPublisher publisher = new IdentityPublisher(properties())) {
            Map<Event, CompletionStage<Position>> published = new HashMap<>();
            for (int i = 0; i < 200; i++) {
                Event event = created("Soundcloud:Tracks:p" + i);
                published.put(event, publisher.publish(event));
            }
            publisher.flush();
            for (Map.Entry<Event, CompletionStage<Position>> each : published.entrySet()) {
                assertThat(each.getValue().toCompletableFuture()).isDone();
                assertThat(get(each.getValue()).partition())
                        .isEqualTo(Utils.toPositive(
                                        Utils.murmur2(each.getKey().puri().toBytes()))
                                % PARTITIONS);
            }
        }
    }

    @Test
    void eventsOfOnePuriKeepTheirPublishingOrder() throws Exception {
        try (IdentityPublisher publisher = new IdentityPublisher(properties())) {
            List<CompletionStage<Position>> published = new ArrayList<>();
            for (int i = 0; i < 1000; i++) {
                published.add(publisher.publish(event("soundcloud:tracks:ordered", new Change.Moved(null, BR_1))));
            }
            long last = -1;
            for (CompletionStage<Position> each : published) {
                assertThat(get(each).offset()).isGreaterThan(last);
                last = get(each).offset();
            }
        }
    }

    /** A starting partition may refuse one request and accept the next; with several in flight, 1 round in 10 loses. */
    @Test
    void aBurstIntoANewTopicLosesNoEvent() throws Exception {
        for (int round = 0; round < 10; round++) {
            String namespace = "fresh" + round;
            makeTopics(Broker.shared().bootstrapServers(), Topics.eventsTopicOf(namespace));
            try (IdentityPublisher publisher = new IdentityPublisher(properties(), namespace::equals)) {
                String puri = namespace + ":tracks:1";
                List<CompletionStage<Position>> published = Stream.generate(
                                () -> publisher.publish(event(puri, new Change.Moved(null, BR_1))))
                        .limit(1000)
                        .toList();
                for (int i = 0; i < published.size(); i++) {
                    assertThat(get(published.get(i)).offset()).isEqualTo(i);
                }
            }
        }
    }

    @Test
    void publishingAgainRepeatsTheSameEventUnderTheSameKey() throws Exception {
        Event event = created("soundcloud:tracks:twice");
        Position first;
        try (IdentityPublisher publisher = new IdentityPublisher(properties())) {
            first = get(publisher.publish(event));
        }
        // A service that crashes before the acknowledgement publishes the event a second time.
        try (IdentityPublisher publisher = new IdentityPublisher(properties())) {
            Position second = get(publisher.publish(event));
            assertThat(second.partition()).isEqualTo(first.partition());
            assertThat(second.offset()).isGreaterThan(first.offset());
            assertThat(at(second).value()).isEqualTo(at(first).value());
            assertThat(at(second).key()).isEqualTo(at(first).key());
        }
    }

    @Test
    void aNamespaceThatOwnsItsTopicIsPublishedThere() throws Exception {
        try (IdentityPublisher publisher = new IdentityPublisher(properties(), "music"::equals)) {
            Event event = created("music:tracks:1");
            Position position = get(publisher.publish(event));
            assertThat(position.topic()).isEqualTo("puri.events.v1.music");
            assertThat(position.toString()).startsWith("music-");
            assertThat(at(position).value()).isEqualTo(EventAvro.toAvro(event));
        }
    }

    @Test
    void anUnreachableSchemaRegistryIsReportedWithSubjectAndUrlWithinTheTimeout() {
        Map<String, Object> properties = properties();
        properties.put("schema.registry.url", "http://127.0.0.1:1/apis/ccompat/v7");
        properties.put("max.retries", "2");
        properties.put("retries.wait.ms", "50");
        long start = System.nanoTime();
        try (IdentityPublisher publisher = new IdentityPublisher(properties)) {
            assertThatThrownBy(() -> get(publisher.publish(created("soundcloud:tracks:unregistered"))))
                    .cause()
                    .isInstanceOf(PublishException.class)
                    .hasMessageContaining("soundcloud:tracks:unregistered")
                    .hasMessageContaining("puri.events.v1-value")
                    .hasMessageContaining("http://127.0.0.1:1/apis/ccompat/v7");
        }
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
    }

    @Test
    void anUnreachableBrokerIsReportedWithinTheDeliveryTimeoutAndRepublishingSucceeds() throws Exception {
        try (RestartableBroker broker = Broker.start()) {
            makeTopics(broker.bootstrapServers(), Topics.EVENTS);
            Map<String, Object> properties = properties();
            properties.put("bootstrap.servers", broker.bootstrapServers());
            properties.put("delivery.timeout.ms", "3000");
            properties.put("request.timeout.ms", "1000");
            properties.put("max.block.ms", "30000");
            try (IdentityPublisher publisher = new IdentityPublisher(properties)) {
                get(publisher.publish(created("soundcloud:tracks:before")));
                broker.stop();
                Event event = created("soundcloud:tracks:during");
                assertThatThrownBy(() -> get(publisher.publish(event)))
                        .cause()
                        .isInstanceOf(PublishException.class)
                        .hasCauseInstanceOf(TimeoutException.class);
                broker.start();
                assertThat(get(publisher.publish(event)).topic()).isEqualTo(Topics.EVENTS);
            }
        }
    }

    @Test
    void aMissingTopicIsNamedWithTheRemedy() {
        Map<String, Object> properties = properties();
        properties.put("max.block.ms", "3000");
        try (IdentityPublisher publisher = new IdentityPublisher(properties, "nowhere"::equals)) {
            assertThatThrownBy(() -> publisher.publishSync(created("nowhere:tracks:1")))
                    .isInstanceOf(PublishException.class)
                    .hasMessageContaining(
                            "puri.events.v1.nowhere at " + Broker.shared().bootstrapServers())
                    .hasMessageContaining("create it with: puri topics create");
        }
    }

    private static List<Event> batch(int size) {
        return IntStream.range(0, size)
                .mapToObj(i -> created("soundcloud:tracks:batch" + i))
                .toList();
    }

    private static List<Event> failedOf(List<Delivery> deliveries) {
        return deliveries.stream()
                .filter(Delivery.Failed.class::isInstance)
                .map(Delivery::event)
                .toList();
    }

    private static String messageOf(Delivery delivery) {
        return String.valueOf(((Delivery.Failed) delivery).error().getMessage());
    }

    /** The client forgets its metadata if no broker responds, so an event without a broker waits for metadata. */
    @Test
    void aBatchWithoutABrokerFailsWithinTheBoundAndPublishingItAgainHelps() throws Exception {
        try (RestartableBroker broker = Broker.start()) {
            makeTopics(broker.bootstrapServers(), Topics.EVENTS);
            Map<String, Object> properties = properties();
            properties.put("bootstrap.servers", broker.bootstrapServers());
            properties.put("max.block.ms", "5000");
            properties.put("request.timeout.ms", "2000");
            properties.put("delivery.timeout.ms", "5000");
            List<Event> batch = batch(200);
            try (IdentityPublisher publisher = new IdentityPublisher(properties)) {
                await().atMost(SOON)
                        .until(() -> failedOf(publisher.publishAll(batch(1))).isEmpty());
                broker.stop();

                List<Delivery> deliveries = publisher.publishAll(batch);

                assertThat(deliveries).extracting(Delivery::event).isEqualTo(batch);
                assertThat(deliveries)
                        .allSatisfy(each -> assertThat(messageOf(each))
                                .contains(each.event().puri() + " was not acknowledged on puri.events.v1 at "
                                        + broker.bootstrapServers() + ": no broker acknowledged it in time"));

                broker.start();
                await().atMost(SOON)
                        .untilAsserted(() -> assertThat(failedOf(publisher.publishAll(batch)))
                                .isEmpty());
            }
        }
    }

    /** A buffer for two of eight partitions, which are sent after 20 ms, and no time to wait for room. */
    @Test
    void aFullBufferFailsEventsWithAnErrorAndLosesNone() {
        Map<String, Object> properties = properties();
        properties.put("buffer.memory", "32768");
        properties.put("batch.size", "16384");
        properties.put("linger.ms", "20");
        properties.put("max.block.ms", "0");
        List<Event> batch = batch(200);
        try (IdentityPublisher publisher = new IdentityPublisher(properties)) {
            await().atMost(SOON)
                    .until(() -> failedOf(publisher.publishAll(batch(1))).isEmpty());

            List<Delivery> deliveries = publisher.publishAll(batch);

            assertThat(deliveries).element(0).isInstanceOf(Delivery.Acknowledged.class);
            assertThat(deliveries)
                    .element(199)
                    .satisfies(last -> assertThat(messageOf(last))
                            .contains("the buffer of unacknowledged events is full")
                            .contains("raise buffer.memory or max.block.ms"));
            AtomicReference<List<Event>> failed = new AtomicReference<>(failedOf(deliveries));
            await().atMost(SOON)
                    .until(() -> failed.updateAndGet(events -> failedOf(publisher.publishAll(events)))
                            .isEmpty());
        }
    }

    /** Events linger longer than the test takes. */
    @Test
    void closingFailsUnacknowledgedEvents() {
        Map<String, Object> properties = properties();
        properties.put("linger.ms", "100000");
        IdentityPublisher publisher = new IdentityPublisher(properties);
        CompletionStage<Position> underWay = publisher.publish(created("soundcloud:tracks:under-way"));
        assertThat(underWay.toCompletableFuture()).isNotDone();

        publisher.close(Duration.ZERO);

        assertThatThrownBy(() -> get(underWay))
                .cause()
                .isInstanceOf(PublishException.class)
                .hasMessageContaining("soundcloud:tracks:under-way")
                .hasMessageEndingWith("this publisher is closed");
    }
}

package dev.puri.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.Verdict;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.EventAvro;
import dev.puri.schemas.log.Position;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serializer;
import org.assertj.core.api.Condition;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

class IdentityPublisherTest {
    private static final Event EVENT = new Event(
            UUID.fromString("01970000-0000-7000-8000-000000000001"),
            Puri.parse("Music:Tracks:Blue%20Train"),
            Instant.parse("2026-11-20T00:00:00Z"),
            "test",
            null,
            1L,
            new Change.Moved(new Owner("catalog"), new Shard("br-1")));

    @SuppressWarnings("NullAway") // The fake takes null for "no partitioner", which it does not declare.
    private static MockProducer<byte[], Object> producer(boolean completes, Serializer<Object> values) {
        Partitioner none = null;
        return new MockProducer<>(completes, none, new ByteArraySerializer(), values);
    }

    private static final Serializer<Object> TEXT =
            (topic, value) -> String.valueOf(value).getBytes(StandardCharsets.UTF_8);

    @Test
    void theKeyIsTheCanonicalPuriAndTheValueTheEvent() {
        try (MockProducer<byte[], Object> kafka = producer(true, TEXT)) {
            IdentityPublisher publisher = new IdentityPublisher(kafka, namespace -> false);
            assertThat(publisher.publish(EVENT).toCompletableFuture().join())
                    .isEqualTo(new Position("puri.events.v1", 0, 0))
                    .hasToString("0-0");
            ProducerRecord<byte[], Object> sent = kafka.history().get(0);
            assertThat(new String(sent.key(), StandardCharsets.UTF_8)).isEqualTo("music:tracks:blue%20train");
            assertThat(sent.value()).isEqualTo(EventAvro.toAvro(EVENT));
            assertThat(sent.partition()).isNull();
        }
    }

    @Test
    void headersAreThoseOfTheRecordInUtf8() {
        try (MockProducer<byte[], Object> kafka = producer(true, TEXT)) {
            new IdentityPublisher(kafka, namespace -> false).publish(EVENT, Map.of("traceparent", "00-é"));
            assertThat(kafka.history().get(0).headers()).singleElement().satisfies(header -> {
                assertThat(header.key()).isEqualTo("traceparent");
                assertThat(header.value()).isEqualTo("00-é".getBytes(StandardCharsets.UTF_8));
            });
        }
    }

    @Test
    void aNamespaceThatOwnsItsTopicIsPublishedThere() {
        try (MockProducer<byte[], Object> kafka = producer(true, TEXT)) {
            IdentityPublisher publisher = new IdentityPublisher(kafka, "music"::equals);
            assertThat(publisher.publish(EVENT).toCompletableFuture().join()).hasToString("music-0-0");
            assertThat(kafka.history().get(0).topic()).isEqualTo("puri.events.v1.music");
        }
    }

    @Test
    void aFailedDeliveryNamesTheEventAndTheCause() {
        try (MockProducer<byte[], Object> kafka = producer(false, TEXT)) {
            CompletionStage<Position> published = new IdentityPublisher(kafka, namespace -> false).publish(EVENT);
            assertThat(published.toCompletableFuture()).isNotDone();
            kafka.errorNext(new RecordTooLargeException("1 byte too many"));
            assertFails(published, RecordTooLargeException.class, "1 byte too many");
        }
    }

    @Test
    void anEventThatTheProducerNeverSettlesFailsAndNamesTheBroker() {
        try (MockProducer<byte[], Object> kafka = producer(false, TEXT)) {
            CompletionStage<Position> published =
                    new IdentityPublisher(kafka, Duration.ofMillis(20), namespace -> false).publish(EVENT);
            assertFails(
                    published,
                    TimeoutException.class,
                    "no broker acknowledged it in time (no acknowledgement within 20 ms)");
        }
    }

    /** It waits for metadata and for room in its buffer, for as long as {@code max.block.ms}. */
    @Test
    @SuppressWarnings("NullAway") // The fake takes null for "no partitioner", which it does not declare.
    void theTimeThatTheProducerTakesToAcceptAnEventDoesNotCount() {
        Partitioner none = null;
        try (MockProducer<byte[], Object> kafka = new MockProducer<>(true, none, new ByteArraySerializer(), TEXT) {
            @Override
            public synchronized Future<RecordMetadata> send(ProducerRecord<byte[], Object> event, Callback callback) {
                // A timer of the publisher that was set before this one fires before it.
                var unused = new CompletableFuture<Boolean>()
                        .completeOnTimeout(true, 50, TimeUnit.MILLISECONDS)
                        .join();
                return super.send(event, callback);
            }
        }) {
            IdentityPublisher publisher = new IdentityPublisher(kafka, Duration.ofMillis(1), namespace -> false);
            assertThat(publisher.publish(EVENT).toCompletableFuture().join()).hasToString("0-0");
        }
    }

    @Test
    void serializerExceptionsFailTheResult() {
        Serializer<Object> broken = (topic, value) -> {
            throw new SerializationException("subject puri.events.v1-value: registry out of reach");
        };
        try (MockProducer<byte[], Object> kafka = producer(true, broken)) {
            CompletionStage<Position> published = new IdentityPublisher(kafka, namespace -> false).publish(EVENT);
            assertFails(published, SerializationException.class, "subject puri.events.v1-value: registry out of reach");
        }
    }

    private static void assertFails(CompletionStage<Position> published, Class<? extends Throwable> cause, String why) {
        assertThatThrownBy(() -> published.toCompletableFuture().join())
                .isInstanceOf(CompletionException.class)
                .cause()
                .asInstanceOf(InstanceOfAssertFactories.type(PublishException.class))
                .satisfies(e -> assertThat(e)
                        .hasMessage("event 01970000-0000-7000-8000-000000000001 of music:tracks:blue%20train was not"
                                + " acknowledged on puri.events.v1 at localhost:9092: " + why)
                        .hasCauseInstanceOf(cause))
                .satisfies(e -> assertThat(e.puri()).isEqualTo(EVENT.puri()))
                .satisfies(e -> assertThat(e.eventId()).isEqualTo(EVENT.eventId()));
    }

    @Test
    void publishingAfterCloseSaysSo() {
        IdentityPublisher publisher = new IdentityPublisher(producer(true, TEXT), namespace -> false);
        publisher.close();
        assertFails(publisher.publish(EVENT), IllegalStateException.class, "this publisher is closed");
        assertThatThrownBy(() -> publisher.publishSync(EVENT))
                .isInstanceOf(PublishException.class)
                .hasMessageEndingWith("this publisher is closed");
    }

    /** A producer without the right to write to the cluster fails so; ours has no transactional id to be fenced by. */
    @Test
    void aFencedProducerIsReportedAsReplaced() {
        try (MockProducer<byte[], Object> kafka = producer(true, TEXT)) {
            kafka.initTransactions();
            kafka.fenceProducer();
            IdentityPublisher publisher = new IdentityPublisher(kafka, namespace -> false);
            assertFails(
                    publisher.publish(EVENT),
                    KafkaException.class,
                    "the producer failed permanently; close this publisher and open a new one (MockProducer is fenced.:"
                            + " Fenced)");
        }
    }

    @Test
    void publishSyncReturnsTheTokenOrThrowsInTheCallersThread() {
        try (MockProducer<byte[], Object> kafka = producer(true, TEXT)) {
            IdentityPublisher publisher = new IdentityPublisher(kafka, namespace -> false);
            assertThat(publisher.publishSync(EVENT)).hasToString("0-0");
            kafka.sendException = new RecordTooLargeException("1 byte too many");
            assertThatThrownBy(() -> publisher.publishSync(EVENT))
                    .isInstanceOfSatisfying(
                            PublishException.class, e -> assertThat(e.eventId()).isEqualTo(EVENT.eventId()))
                    .hasCauseInstanceOf(RecordTooLargeException.class)
                    .hasStackTraceContaining("publishSyncReturnsTheTokenOrThrowsInTheCallersThread");
        }
    }

    private static Event moved(String puri) {
        return new Events("test").moved(Puri.parse(puri), new Shard("br-1")).build();
    }

    /** A producer that fails the events of some topics and some pURIs, and counts calls. */
    private static final class Failing extends MockProducer<byte[], Object> {
        private final Map<String, RuntimeException> byTopicOrKey = new HashMap<>();
        private final List<String> asked = new ArrayList<>();

        @SuppressWarnings("NullAway") // The fake takes null for "no partitioner", which it does not declare.
        Failing() {
            super(true, (Partitioner) null, new ByteArraySerializer(), TEXT);
        }

        @Override
        public synchronized Future<RecordMetadata> send(ProducerRecord<byte[], Object> event, Callback callback) {
            String key = new String(event.key(), StandardCharsets.UTF_8);
            asked.add(key);
            for (String each : List.of(event.topic(), key)) {
                RuntimeException error = byTopicOrKey.get(each);
                if (error != null) {
                    throw error;
                }
            }
            return super.send(event, callback);
        }
    }

    private static List<Delivery> publishAll(Failing kafka, String... puris) {
        List<Event> events = Stream.of(puris).map(IdentityPublisherTest::moved).toList();
        List<Delivery> deliveries = new IdentityPublisher(kafka, List.of("gone", "there")::contains).publishAll(events);
        assertThat(deliveries).extracting(Delivery::event).containsExactlyElementsOf(events);
        return deliveries;
    }

    private static final Condition<Delivery> FAILED =
            new Condition<>(delivery -> delivery instanceof Delivery.Failed, "failed");

    @Test
    void oneFailureOfABatchHidesNoOtherResult() {
        try (Failing kafka = new Failing()) {
            kafka.byTopicOrKey.put("a:b:2", new RecordTooLargeException("1 byte too many"));
            List<Delivery> deliveries = publishAll(kafka, "a:b:1", "a:b:2", "a:b:3");
            assertThat(deliveries.get(0)).isNot(FAILED);
            assertThat(deliveries.get(1)).is(FAILED);
            assertThat(deliveries.get(2))
                    .isInstanceOfSatisfying(
                            Delivery.Acknowledged.class,
                            third -> assertThat(third.token()).hasToString("0-1"));
        }
    }

    @Test
    void aBatchAsksOnceForATopicThatIsMissing() {
        try (Failing kafka = new Failing()) {
            kafka.byTopicOrKey.put(
                    "puri.events.v1.gone",
                    new TimeoutException("not in metadata", new UnknownTopicOrPartitionException()));
            List<Delivery> deliveries = publishAll(kafka, "gone:b:1", "there:b:1", "gone:b:2", "a:b:1");
            assertThat(kafka.asked).containsExactly("gone:b:1", "there:b:1", "a:b:1");
            assertThat(deliveries).element(1).isNot(FAILED);
            assertThat(deliveries).element(3).isNot(FAILED);
            assertThat(deliveries)
                    .element(2)
                    .isInstanceOfSatisfying(
                            Delivery.Failed.class,
                            failed -> assertThat(failed.error())
                                    .hasMessageContaining("gone:b:2 was not acknowledged on puri.events.v1.gone")
                                    .hasMessageContaining("puri topics create"));
        }
    }

    /** If they were sent anyway, the repeated batch would put the failed event after them. */
    @Test
    void aBatchSendsNoLaterEventOfAPuriWhoseEarlierOneFailed() {
        try (Failing kafka = new Failing()) {
            kafka.byTopicOrKey.put("a:b:1", new RecordTooLargeException("1 byte too many"));
            List<Delivery> deliveries = publishAll(kafka, "a:b:1", "a:b:2", "a:b:1", "a:b:2", "a:b:1");
            assertThat(kafka.asked).containsExactly("a:b:1", "a:b:2", "a:b:2");
            assertThat(List.of(deliveries.get(1), deliveries.get(3))).areNot(FAILED);
            PublishException first = errorOf(deliveries.get(0));
            assertThat(List.of(deliveries.get(2), deliveries.get(4)))
                    .allSatisfy(each -> assertThat(errorOf(each))
                            .hasMessageContaining("it was not sent, because an earlier event of its pURI failed")
                            .hasMessageContaining("1 byte too many")
                            .hasCause(first)
                            .satisfies(error -> assertThat(error.eventId())
                                    .isEqualTo(each.event().eventId()))
                            .satisfies(error -> assertThat(error.scope()).isEqualTo(PublishException.Scope.EVENT)));
        }
    }

    @Test
    void aBatchHasAtMostOneEventOfAPuriInFlight() throws Exception {
        List<Event> events = Stream.of("a:b:1", "a:b:2", "a:b:1", "a:b:3", "a:b:1")
                .map(IdentityPublisherTest::moved)
                .toList();
        try (MockProducer<byte[], Object> kafka = producer(false, TEXT)) {
            IdentityPublisher publisher = new IdentityPublisher(kafka, namespace -> false);
            CompletableFuture<List<Delivery>> deliveries =
                    CompletableFuture.supplyAsync(() -> publisher.publishAll(events));
            await().until(() -> kafka.history().size() == 3);
            assertThat(kafka.completeNext()).isTrue();
            assertThat(kafka.completeNext()).isTrue();
            assertThat(keys(kafka))
                    .as("while one event of the wave is not acknowledged")
                    .containsExactly("a:b:1", "a:b:2", "a:b:3");
            assertThat(kafka.completeNext()).isTrue();
            await().until(() -> kafka.history().size() == 4);
            assertThat(kafka.errorNext(new TimeoutException("expired"))).isTrue();
            assertThat(deliveries.get(60, TimeUnit.SECONDS).subList(0, 2)).areNot(FAILED);
            assertThat(deliveries.get()).element(2).is(FAILED);
            assertThat(deliveries.get()).element(3).isNot(FAILED);
            assertThat(deliveries.get()).element(4).is(FAILED);
            assertThat(keys(kafka)).containsExactly("a:b:1", "a:b:2", "a:b:3", "a:b:1");
        }
    }

    /** Each wave would wait for its whole delivery timeout. */
    @Test
    void aBatchSendsNoFurtherWaveOnceTheBrokerAnswersNoEvent() throws Exception {
        List<Event> events = Stream.of("a:b:1", "a:b:2", "a:b:2")
                .map(IdentityPublisherTest::moved)
                .toList();
        try (MockProducer<byte[], Object> kafka = producer(false, TEXT)) {
            IdentityPublisher publisher = new IdentityPublisher(kafka, namespace -> false);
            CompletableFuture<List<Delivery>> deliveries =
                    CompletableFuture.supplyAsync(() -> publisher.publishAll(events));
            await().until(() -> kafka.history().size() == 2);
            assertThat(kafka.errorNext(new TimeoutException("expired"))).isTrue();
            assertThat(kafka.completeNext()).isTrue();
            assertThat(deliveries.get(60, TimeUnit.SECONDS)).element(1).isNot(FAILED);
            assertThat(deliveries.get()).element(2).is(FAILED);
            assertThat(kafka.history()).hasSize(2);
        }
    }

    private static List<String> keys(MockProducer<byte[], Object> kafka) {
        return kafka.history().stream()
                .map(sent -> new String(sent.key(), StandardCharsets.UTF_8))
                .toList();
    }

    private static PublishException errorOf(Delivery delivery) {
        return ((Delivery.Failed) delivery).error();
    }

    @Test
    void aBatchEndsAtTheFirstEventThatFindsTheBufferFull() {
        try (Failing kafka = new Failing()) {
            kafka.byTopicOrKey.put("a:b:2", new BufferExhaustedException("Failed to allocate"));
            List<Delivery> deliveries = publishAll(kafka, "a:b:1", "a:b:2", "there:b:1");
            assertThat(kafka.asked).containsExactly("a:b:1", "a:b:2");
            assertThat(deliveries.get(0)).isNot(FAILED);
            assertThat(deliveries.subList(1, 3)).are(FAILED);
        }
    }

    /** A resolver that answers nothing. */
    private static class Silent implements IdentityResolver {
        private boolean isClosed;

        @Override
        public CompletionStage<Verdict> resolveAsync(Ref ref, Duration wait) {
            return new CompletableFuture<>();
        }

        @Override
        public CompletionStage<List<Verdict>> resolveAllAsync(List<Ref> refs, Duration wait) {
            return new CompletableFuture<>();
        }

        @Override
        public void close() {
            isClosed = true;
        }
    }

    @Test
    @SuppressWarnings("NullAway") // The fake takes null for "no partitioner", which it does not declare.
    void closingFailsPendingAwaitsBeforeItWaitsForTheProducer() {
        Silent resolver = new Silent();
        List<Object> whileClosing = new ArrayList<>();
        AtomicReference<IdentityPublisher> publisher = new AtomicReference<>();
        List<CompletableFuture<PublishOutcome>> awaited = new ArrayList<>();
        Partitioner none = null;
        MockProducer<byte[], Object> kafka = new MockProducer<>(true, none, new ByteArraySerializer(), TEXT) {
            @Override
            public void close(Duration timeout) {
                whileClosing.add(awaited.get(0).isCompletedExceptionally());
                whileClosing.add(
                        publisher.get().publish(EVENT).toCompletableFuture().isCompletedExceptionally());
                whileClosing.add(history().size());
                super.close(timeout);
            }
        };
        publisher.set(new IdentityPublisher(kafka, resolver));
        Position token = new Position("puri.events.v1", 0, 7);
        awaited.add(publisher
                .get()
                .await(EVENT.puri(), token, Duration.ofMinutes(1))
                .toCompletableFuture());
        assertThat(awaited.get(0)).isNotDone();

        publisher.get().close();

        assertThat(whileClosing).containsExactly(true, true, 0);
        assertThatThrownBy(awaited.get(0)::join)
                .cause()
                .isInstanceOf(IOException.class)
                .hasMessage("this publisher is closed");
        assertThat(publisher
                        .get()
                        .await(EVENT.puri(), token, Duration.ofMinutes(1))
                        .toCompletableFuture())
                .isCompletedExceptionally();
        assertThat(resolver.isClosed).as("a resolver of the caller").isFalse();
    }

    @Test
    void anExceptionOfAResolverFailsTheAwaitedStage() {
        Silent resolver = new Silent() {
            @Override
            public CompletionStage<Verdict> resolveAsync(Ref ref, Duration wait) {
                throw new ArithmeticException("long overflow");
            }
        };
        try (MockProducer<byte[], Object> kafka = producer(true, TEXT)) {
            CompletionStage<PublishOutcome> outcome = new IdentityPublisher(kafka, resolver)
                    .await(EVENT.puri(), new Position("puri.events.v1", 0, 7), Duration.ZERO);
            assertThatThrownBy(() -> outcome.toCompletableFuture().join())
                    .cause()
                    .isInstanceOf(ArithmeticException.class);
        }
    }

    @Test
    void aPredicateThatFailsFailsTheEventsOfItsNamespace() {
        try (MockProducer<byte[], Object> kafka = producer(true, TEXT)) {
            IdentityPublisher publisher = new IdentityPublisher(kafka, namespace -> {
                if (namespace.equals("lost")) {
                    throw new IllegalStateException("no declarations");
                }
                return false;
            });
            assertThatThrownBy(() -> publisher
                            .publish(moved("lost:b:1"))
                            .toCompletableFuture()
                            .join())
                    .cause()
                    .isInstanceOfSatisfying(
                            PublishException.class, e -> assertThat(e.scope()).isEqualTo(PublishException.Scope.TOPIC))
                    .hasMessageContaining("failed to determine whether the namespace lost has its own topic")
                    .hasMessageContaining("no declarations");
            List<Delivery> deliveries = publisher.publishAll(List.of(moved("lost:b:1"), moved("a:b:1")));
            assertThat(deliveries).element(0).is(FAILED);
            assertThat(deliveries).element(1).isNot(FAILED);
        }
    }
}

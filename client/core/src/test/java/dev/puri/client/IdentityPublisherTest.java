package dev.puri.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import dev.puri.schemas.log.Change;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.EventAvro;
import dev.puri.schemas.log.Position;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.Partitioner;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serializer;
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
            assertFails(published, TimeoutException.class, "no broker of localhost:9092 has answered for 20 ms");
        }
    }

    @Test
    void whatTheSerializerThrowsComesOutOfTheResultToo() {
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
                                + " acknowledged on puri.events.v1: " + why)
                        .hasCauseInstanceOf(cause))
                .satisfies(e -> assertThat(e.puri()).isEqualTo(EVENT.puri()))
                .satisfies(e -> assertThat(e.eventId()).isEqualTo(EVENT.eventId()));
    }

    @Test
    void propertiesThatWouldBreakTheRegistryAreAllNamed() {
        Map<String, Object> given = Map.of(
                "bootstrap.servers", "localhost:1",
                "acks", "1",
                "enable.idempotence", "false",
                "key.serializer", "x.Y",
                "partitioner.class", "x.Z",
                "partitioner.ignore.keys", true,
                "transactional.id", "t");
        assertThatThrownBy(() -> IdentityPublisher.producerProperties(given))
                .isInstanceOf(IllegalArgumentException.class)
                .message()
                .contains("acks=1: must be all")
                .contains("enable.idempotence=false: must be true")
                .contains("partitioner.ignore.keys=true: must be false")
                .contains("partitioner.class=x.Z: must be absent")
                .contains("key.serializer=x.Y: must be absent")
                .contains("transactional.id=t: must be absent");
    }

    @Test
    void everythingElsePassesThrough() {
        Properties given = new Properties();
        given.setProperty("value.serializer", "io.confluent.kafka.serializers.KafkaAvroSerializer");
        given.setProperty("basic.auth.user.info", "me:secret");
        given.setProperty("acks", "all");
        given.setProperty("delivery.timeout.ms", "120000");
        assertThat(IdentityPublisher.producerProperties(given))
                .containsEntry("value.serializer", "io.confluent.kafka.serializers.KafkaAvroSerializer")
                .containsEntry("basic.auth.user.info", "me:secret")
                .containsEntry("delivery.timeout.ms", "120000")
                .doesNotContainKey("request.timeout.ms");
    }

    @Test
    void ourSerializerAndBoundedDeliveryAreTheDefault() {
        assertThat(IdentityPublisher.producerProperties(Map.of("avro.remove.java.properties", "false")))
                .containsEntry("avro.remove.java.properties", "false");
        assertThat(IdentityPublisher.producerProperties(Map.of()))
                .containsEntry("avro.remove.java.properties", "true")
                .containsEntry("value.serializer", "dev.puri.schemas.serde.AvroSerializer")
                .containsEntry("acks", "all")
                .containsEntry("enable.idempotence", "true")
                .containsEntry("delivery.timeout.ms", "30000")
                .containsEntry("max.in.flight.requests.per.connection", "1");
    }
}

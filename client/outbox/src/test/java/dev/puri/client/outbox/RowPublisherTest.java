package dev.puri.client.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.client.Events;
import dev.puri.client.PublishException;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.junit.jupiter.api.Test;

class RowPublisherTest {
    private static final Event EVENT =
            new Events("outbox-test").deleted(Puri.parse("a:b:c")).build();

    private static PublishException failure(Throwable cause) {
        return new PublishException(EVENT, "puri.events.v1", "localhost:9092", cause);
    }

    @Test
    void aRowIsBlockedByErrorsOfItsPayloadItsEventAndItsTopicAlone() {
        assertThat(RowPublisher.isRowError(new IllegalArgumentException("payload")))
                .isTrue();
        assertThat(RowPublisher.isRowError(failure(new RecordTooLargeException("of the broker"))))
                .isTrue();
        assertThat(RowPublisher.isRowError(
                        failure(new TimeoutException("not in metadata", new UnknownTopicOrPartitionException()))))
                .isTrue();
        assertThat(RowPublisher.isRowError(failure(new TimeoutException("30000 ms has passed since batch creation"))))
                .isFalse();
        assertThat(RowPublisher.isRowError(new java.util.concurrent.TimeoutException()))
                .isFalse();
    }

    @Test
    void theReasonOfABlockedRowIsKafkasError() {
        assertThat(RowPublisher.description(failure(new RecordTooLargeException("of the broker"))))
                .isEqualTo("RecordTooLargeException: of the broker");
        assertThat(RowPublisher.description(new IllegalArgumentException("payload")))
                .isEqualTo("IllegalArgumentException: payload");
    }

    @Test
    void theTimeToCloseFollowsFromThePublishersTimeouts() {
        assertThat(RowPublisher.waveAndCloseTimeout(Map.of())).isEqualTo(Duration.ofSeconds(46));
        assertThat(RowPublisher.waveAndCloseTimeout(Map.of("max.block.ms", "1000", "delivery.timeout.ms", 60_000)))
                .isEqualTo(Duration.ofSeconds(67));
        assertThat(RowPublisher.waveAndCloseTimeout(Map.of("request.timeout.ms", "60000")))
                .isEqualTo(Duration.ofSeconds(76));
        assertThat(RowPublisher.waveAndCloseTimeout(Map.of("max.block.ms", "soon", "delivery.timeout.ms", "300000")))
                .isEqualTo(Duration.ofSeconds(155));
    }

    /** With any of the first six the publisher could not be opened. */
    @Test
    void ignoresPropertiesThatAPublisherRefusesAndPassesTheOthers() {
        Map<String, String> given = Map.of(
                "acks", "1",
                "enable.idempotence", "false",
                "key.serializer", "x.Y",
                "partitioner.class", "x.Z",
                "partitioner.ignore.keys", "true",
                "transactional.id", "t",
                "bootstrap.servers", "127.0.0.1:1",
                "schema.registry.url", "http://127.0.0.1:1",
                "linger.ms", "5");
        assertThat(RowPublisher.publisherProperties(given))
                .containsEntry("linger.ms", "5")
                .containsEntry("max.block.ms", "10000");
        new RowPublisher(given, namespace -> false).close();
    }

    /**
     * The others fit it; Kafka refuses a producer whose timeouts contradict one another, and a relay would never
     * publish.
     */
    @Test
    void takesADeliveryTimeoutAlone() {
        Map<String, String> given = Map.of(
                "bootstrap.servers", "127.0.0.1:1",
                "schema.registry.url", "http://127.0.0.1:1",
                "delivery.timeout.ms", "3000");
        new RowPublisher(given, namespace -> false).close();
    }
}

package dev.puri.client.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.schemas.serde.RegistryUnavailableException;
import dev.puri.schemas.serde.UnknownSchemaException;
import java.io.IOException;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RowPublisherTest {
    static Stream<Throwable> errorsOfARow() {
        return Stream.of(
                new RecordTooLargeException("of the broker"),
                new SerializationException("does not fit"),
                new UnknownSchemaException("auto.register.schemas=false", null),
                new TopicAuthorizationException("puri.events.v1"),
                new InvalidTopicException("a:b"),
                new TimeoutException("not in metadata", new UnknownTopicOrPartitionException()),
                new IllegalArgumentException("payload"));
    }

    static Stream<Throwable> errorsOfTheWorld() {
        return Stream.of(
                new TimeoutException("30000 ms has passed since batch creation"),
                new NotEnoughReplicasException("min.insync.replicas"),
                new RegistryUnavailableException("out of reach", null),
                new SerializationException("as Confluent's", new IOException("refused")),
                new AuthenticationException("password"),
                new ClusterAuthorizationException("idempotent write"),
                new ProducerFencedException("another"),
                new IllegalStateException("the producer is closed"));
    }

    @ParameterizedTest
    @MethodSource("errorsOfARow")
    void anErrorOfARowBlocksItsPuri(Throwable error) {
        assertThat(RowPublisher.isOfRow(error)).isTrue();
    }

    @ParameterizedTest
    @MethodSource("errorsOfTheWorld")
    void anErrorOfTheWorldBlocksNoPuri(Throwable error) {
        assertThat(RowPublisher.isOfRow(error)).isFalse();
    }

    @Test
    void propertiesThatWouldBreakTheOrderAreReplaced() {
        Map<String, Object> properties = RowPublisher.producerProperties(
                Map.of("acks", "1", "enable.idempotence", "false", "transactional.id", "t", "linger.ms", "5"));
        assertThat(properties)
                .containsEntry("acks", "all")
                .containsEntry("enable.idempotence", "true")
                .containsEntry("linger.ms", "5")
                .containsEntry("max.in.flight.requests.per.connection", "1")
                .doesNotContainKey("transactional.id");
    }
}

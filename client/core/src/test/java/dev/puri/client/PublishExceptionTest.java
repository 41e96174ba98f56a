package dev.puri.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.client.PublishException.Scope;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.serde.SchemaRegistryUnavailableException;
import dev.puri.schemas.serde.UnknownSchemaException;
import java.io.IOException;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.ClusterAuthorizationException;
import org.apache.kafka.common.errors.InvalidConfigurationException;
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

class PublishExceptionTest {
    private static final Event EVENT =
            new Events("test").deleted(Puri.parse("a:b:c")).build();

    private static PublishException of(Throwable cause) {
        return new PublishException(EVENT, "puri.events.v1", "broker-1:9092", cause);
    }

    /** Has the form of an exception of Confluent's serializer. */
    public static final class RestClientException extends Exception {
        private static final long serialVersionUID = 1L;
        private final int status;
        private final int errorCode;

        RestClientException(int status) {
            this(status, status);
        }

        RestClientException(int status, int errorCode) {
            this.status = status;
            this.errorCode = errorCode;
        }

        public int getErrorCode() {
            return errorCode;
        }

        public int getStatus() {
            return status;
        }
    }

    static Stream<Throwable> errorsOfAnEvent() {
        return Stream.of(
                new RecordTooLargeException("of the broker"),
                new SerializationException("does not fit"),
                new SerializationException("as Confluent's", new RestClientException(409)),
                new SerializationException("as Confluent's", new RestClientException(422, 42201)),
                new UnknownSchemaException("auto.register.schemas=false", null),
                new IllegalArgumentException("of a serializer"));
    }

    static Stream<Throwable> errorsOfATopic() {
        return Stream.of(
                new TopicAuthorizationException("puri.events.v1"),
                new InvalidTopicException("a:b"),
                new TimeoutException("not in metadata", new UnknownTopicOrPartitionException()));
    }

    static Stream<Throwable> errorsOfAPublisher() {
        return Stream.of(
                new TimeoutException("30000 ms has passed since batch creation"),
                new BufferExhaustedException("Failed to allocate 16384 bytes"),
                new NotEnoughReplicasException("min.insync.replicas"),
                new SchemaRegistryUnavailableException("out of reach", null),
                new SerializationException("as Confluent's", new IOException("refused")),
                new SerializationException("as Confluent's", new RestClientException(500)),
                new SerializationException("as Confluent's", new RestClientException(401)),
                new SerializationException("as Confluent's", new RestClientException(403)),
                new SerializationException("as Confluent's", new RestClientException(408)),
                new SerializationException("as Confluent's", new RestClientException(429)),
                new SerializationException("as Confluent's", new RestClientException(0, 40101)),
                new InvalidConfigurationException("Unauthorized; error code: 401"),
                new AuthenticationException("password"),
                new ClusterAuthorizationException("idempotent write"),
                new ProducerFencedException("another"),
                new KafkaException("in an error state", new ProducerFencedException("another")),
                new IllegalStateException("the producer is closed"));
    }

    @ParameterizedTest
    @MethodSource("errorsOfAnEvent")
    void anErrorOfAnEventConcernsNoOther(Throwable error) {
        assertThat(of(error).scope()).isEqualTo(Scope.EVENT);
    }

    @ParameterizedTest
    @MethodSource("errorsOfATopic")
    void anErrorOfATopicConcernsItsEvents(Throwable error) {
        assertThat(of(error).scope()).isEqualTo(Scope.TOPIC);
    }

    @ParameterizedTest
    @MethodSource("errorsOfAPublisher")
    void anErrorOfBrokerOrRegistryConcernsAll(Throwable error) {
        assertThat(of(error).scope()).isEqualTo(Scope.PUBLISHER);
    }

    @Test
    void theMessageNamesTheFailureAndTheRemedy() {
        assertThat(of(new RecordTooLargeException("1 byte too many")))
                .hasMessage("event " + EVENT.eventId()
                        + " of a:b:c was not acknowledged on puri.events.v1 at broker-1:9092: 1 byte too many");
        assertThat(of(new BufferExhaustedException("Failed to allocate 16384 bytes")))
                .hasMessageContaining("buffer of unacknowledged events is full")
                .hasMessageContaining("raise buffer.memory or max.block.ms (Failed to allocate 16384 bytes)");
        assertThat(of(new TimeoutException("not in metadata", new UnknownTopicOrPartitionException())))
                .hasMessageContaining("puri topics create (not in metadata)");
        assertThat(of(new KafkaException("in an error state", new ClusterAuthorizationException("not allowed"))))
                .hasMessageContaining("close this publisher and open a new one (in an error state: not allowed)");
        assertThat(of(new TopicAuthorizationException("no access")))
                .hasMessageContaining("may not write to the topic")
                .hasMessageEndingWith("(no access)");
        assertThat(of(new NullPointerException())).hasMessageEndingWith("java.lang.NullPointerException");
    }
}

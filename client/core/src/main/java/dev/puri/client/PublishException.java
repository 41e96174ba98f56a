package dev.puri.client;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.serde.SchemaRegistryUnavailableException;
import java.io.IOException;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.clients.producer.BufferExhaustedException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;

/**
 * An event was not acknowledged. The event may still be in the log: publish it again with the same event id, and the
 * registry counts it once. The message has the event's id and pURI, the topic and the brokers' addresses. Where Kafka's
 * message does not say what to do, this message adds it. The cause is the exception of Kafka or of the serializer. If
 * the event was not sent because an earlier event of its pURI in the batch failed, the cause is the {@link
 * PublishException} of the earlier event.
 */
public final class PublishException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** HTTP statuses that do not depend on the content of the request: credentials, permission, timeout, rate limit. */
    private static final Set<Integer> CONTENT_INDEPENDENT_STATUSES = Set.of(401, 403, 408, 429);

    private final transient Puri puri;
    private final UUID eventId;
    private final String topic;
    private final Scope scope;

    /** Which events a failure concerns. */
    public enum Scope {
        /** Only this event, for example because it is too large. Also the scope of every unknown cause. */
        EVENT,
        /** All events of the same topic: the topic is missing, or this service may not write to it. */
        TOPIC,
        /** All events: the brokers, the schema registry or the publisher failed. */
        PUBLISHER
    }

    /**
     * Creates the exception of one event. Public for test doubles of a publisher.
     *
     * @param brokers addresses of the brokers
     * @param cause exception of Kafka or of the serializer
     */
    public PublishException(Event event, String topic, String brokers, Throwable cause) {
        super(
                "event " + event.eventId() + " of " + event.puri() + " was not acknowledged on " + topic + " at "
                        + brokers + ": " + reason(cause),
                cause);
        this.puri = event.puri();
        this.eventId = event.eventId();
        this.topic = topic;
        this.scope = scope(cause);
    }

    /** Copies an exception, so that the copy has the stack trace of the calling thread. */
    PublishException(PublishException failure) {
        super(failure.getMessage(), failure.getCause());
        this.puri = failure.puri;
        this.eventId = failure.eventId;
        this.topic = failure.topic;
        this.scope = failure.scope;
    }

    private static String reason(Throwable cause) {
        String detail = cause.getMessage() == null ? cause.toString() : cause.getMessage();
        if (cause instanceof PublishException) {
            return "it was not sent, because an earlier event of its pURI failed (" + detail + ")";
        }
        if (isFatal(cause)) {
            Throwable error = cause.getCause();
            return "the producer failed permanently; close this publisher and open a new one (" + detail
                    + (error == null ? "" : ": " + error.getMessage()) + ")";
        }
        if (cause instanceof BufferExhaustedException) {
            return "the buffer of unacknowledged events is full, because the brokers are unreachable or slower than this"
                    + " service: publish more slowly, or raise buffer.memory or max.block.ms (" + detail + ")";
        }
        if (isTopicFailure(cause) && cause instanceof TimeoutException) {
            return "the topic does not exist; create it with: puri topics create (" + detail + ")";
        }
        if (cause instanceof TopicAuthorizationException) {
            return "this service may not write to the topic: its principal has no Write permission, or the namespace belongs"
                    + " to another service (" + detail + ")";
        }
        return cause instanceof TimeoutException ? "no broker acknowledged it in time (" + detail + ")" : detail;
    }

    private static Scope scope(Throwable cause) {
        if (cause instanceof PublishException earlier) {
            return earlier.scope();
        }
        if (isTopicFailure(cause)) {
            return Scope.TOPIC;
        }
        if (cause instanceof SerializationException) {
            boolean isSchemaRegistryFailure = cause instanceof SchemaRegistryUnavailableException
                    || cause.getCause() instanceof IOException
                    || isSchemaRegistryRefusal(cause.getCause());
            return isSchemaRegistryFailure ? Scope.PUBLISHER : Scope.EVENT;
        }
        boolean isPublisherFailure = isFatal(cause)
                || isPlainKafkaException(cause)
                || cause instanceof RetriableException
                || cause instanceof AuthenticationException
                || cause instanceof AuthorizationException
                || cause instanceof OutOfOrderSequenceException
                // Confluent's serializer throws this exception, without the status, for every 4xx of the schema
                // registry.
                || cause instanceof InvalidConfigurationException
                || cause instanceof IllegalStateException;
        return isPublisherFailure ? Scope.PUBLISHER : Scope.EVENT;
    }

    /**
     * Returns whether the schema registry refused or failed the request for a reason that is not the schema.
     * Confluent's serializer then throws its RestClientException, which is not on this module's class path, so this
     * method calls its getters by reflection. {@code getStatus} returns the HTTP status. {@code getErrorCode} returns
     * the status with two more digits.
     */
    private static boolean isSchemaRegistryRefusal(@Nullable Throwable cause) {
        return cause != null
                && (isIndependentOfContent(intFrom(cause, "getStatus"))
                        || isIndependentOfContent(intFrom(cause, "getErrorCode") / 100));
    }

    private static boolean isIndependentOfContent(int status) {
        return status / 100 == 5 || CONTENT_INDEPENDENT_STATUSES.contains(status);
    }

    /** Returns the int that a getter returns; 0 if the exception does not have the getter. */
    private static int intFrom(Throwable error, String getter) {
        try {
            return error.getClass().getMethod(getter).invoke(error) instanceof Integer number ? number : 0;
        } catch (ReflectiveOperationException e) {
            return 0;
        }
    }

    /**
     * Returns whether the failure concerns the topic. Kafka reports a missing topic as a TimeoutException whose cause
     * is an UnknownTopicOrPartitionException.
     */
    private static boolean isTopicFailure(@Nullable Throwable cause) {
        return cause instanceof TopicAuthorizationException
                || cause instanceof InvalidTopicException
                || cause instanceof UnknownTopicOrPartitionException
                || cause instanceof TimeoutException
                        && !(cause.getCause() instanceof TimeoutException)
                        && isTopicFailure(cause.getCause());
    }

    /** After a fatal error, a producer fails every send with a plain KafkaException whose cause is the fatal error. */
    private static boolean isFatal(Throwable cause) {
        return (isPlainKafkaException(cause) && cause.getCause() != null)
                || cause instanceof ProducerFencedException
                || cause instanceof InvalidProducerEpochException;
    }

    private static boolean isPlainKafkaException(Throwable cause) {
        return cause.getClass() == KafkaException.class;
    }

    /** The pURI of the event that failed. */
    public Puri puri() {
        return puri;
    }

    /** The id of the event that failed. */
    public UUID eventId() {
        return eventId;
    }

    String topic() {
        return topic;
    }

    /** Which events the failure concerns. */
    public Scope scope() {
        return scope;
    }
}

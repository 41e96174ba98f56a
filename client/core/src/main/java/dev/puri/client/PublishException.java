package dev.puri.client;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.serde.RegistryUnavailableException;
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
 * An event that was not acknowledged. It may have arrived all the same: publish it again, with the
 * same event id, and it counts once. The message names the event, its pURI, the topic and the brokers' addresses, and says
 * what to do where Kafka does not. The cause is Kafka's or the serializer's exception. For an event of a batch that was not
 * sent, because an earlier one of its pURI failed, the cause is the {@link PublishException} of the earlier one.
 */
public final class PublishException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Statuses by which a server refuses any request: credentials, scope, timeout, rate limit. */
    private static final Set<Integer> REQUEST_STATUSES = Set.of(401, 403, 408, 429);

    private final transient Puri puri;
    private final UUID eventId;
    private final String topic;
    private final Scope scope;

    /** Which events a failure concerns. */
    public enum Scope {
        /** This event alone, such as one that is too large. Others get through; publishing this one again does not help. */
        EVENT,
        /** The events of its topic, which is missing or forbidden. */
        TOPIC,
        /** All events: the brokers, the schema registry or the publisher fail. */
        PUBLISHER
    }

    /**
     * Makes an exception as {@link IdentityPublisher} does; public for fakes of a publisher.
     *
     * @param brokers addresses of the brokers
     * @param cause Kafka's or the serializer's exception
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

    /** The same failure with the stack trace of the calling thread. */
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
            return "the producer has failed for good; close this publisher and open another (" + detail
                    + (error == null ? "" : ": " + error.getMessage()) + ")";
        }
        if (cause instanceof BufferExhaustedException) {
            return "the buffer of events not yet acknowledged is full; the brokers are away, or slower than this service:"
                    + " publish more slowly, or raise buffer.memory or max.block.ms (" + detail + ")";
        }
        if (isOfTopic(cause) && cause instanceof TimeoutException) {
            return "the topic does not exist; make it with puri topics create (" + detail + ")";
        }
        if (cause instanceof TopicAuthorizationException) {
            return "this service may not write to the topic: its principal lacks Write there, or the namespace is another"
                    + " service's (" + detail + ")";
        }
        return cause instanceof TimeoutException ? "no broker acknowledged it in time (" + detail + ")" : detail;
    }

    private static Scope scope(Throwable cause) {
        if (cause instanceof PublishException earlier) {
            return earlier.scope();
        }
        if (isOfTopic(cause)) {
            return Scope.TOPIC;
        }
        if (cause instanceof SerializationException) {
            boolean isRegistryAway = cause instanceof RegistryUnavailableException
                    || cause.getCause() instanceof IOException
                    || isOfRegistry(cause.getCause());
            return isRegistryAway ? Scope.PUBLISHER : Scope.EVENT;
        }
        boolean isOfPublisher = isFatal(cause)
                || isPlain(cause)
                || cause instanceof RetriableException
                || cause instanceof AuthenticationException
                || cause instanceof AuthorizationException
                || cause instanceof OutOfOrderSequenceException
                // Confluent's serializer throws it for every 4xx of the schema registry, without the status.
                || cause instanceof InvalidConfigurationException
                || cause instanceof IllegalStateException;
        return isOfPublisher ? Scope.PUBLISHER : Scope.EVENT;
    }

    /**
     * Whether a schema registry refused the request and not the schema. Confluent's serializer reports that by its
     * RestClientException, which is not on this module's class path. {@code getStatus} returns the HTTP status, and {@code
     * getErrorCode} may have two more digits.
     */
    private static boolean isOfRegistry(@Nullable Throwable cause) {
        return cause != null
                && (isOfRequest(number(cause, "getStatus")) || isOfRequest(number(cause, "getErrorCode") / 100));
    }

    private static boolean isOfRequest(int status) {
        return status / 100 == 5 || REQUEST_STATUSES.contains(status);
    }

    /** Returns the result of a method; 0 if the object does not have it. */
    private static int number(Throwable of, String method) {
        try {
            return of.getClass().getMethod(method).invoke(of) instanceof Integer number ? number : 0;
        } catch (ReflectiveOperationException e) {
            return 0;
        }
    }

    /** Kafka reports a missing topic by a timeout with that cause. */
    private static boolean isOfTopic(@Nullable Throwable cause) {
        return cause instanceof TopicAuthorizationException
                || cause instanceof InvalidTopicException
                || cause instanceof UnknownTopicOrPartitionException
                || cause instanceof TimeoutException
                        && !(cause.getCause() instanceof TimeoutException)
                        && isOfTopic(cause.getCause());
    }

    /** After a fatal error a producer refuses every record by a plain KafkaException with that error as its cause. */
    private static boolean isFatal(Throwable cause) {
        return (isPlain(cause) && cause.getCause() != null)
                || cause instanceof ProducerFencedException
                || cause instanceof InvalidProducerEpochException;
    }

    private static boolean isPlain(Throwable cause) {
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

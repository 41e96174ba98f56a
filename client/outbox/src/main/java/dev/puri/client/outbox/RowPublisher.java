package dev.puri.client.outbox;

import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.EventAvro;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.AvroSerializer;
import dev.puri.schemas.serde.RegistryUnavailableException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Predicate;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/** Sends rows as records of the events topics. */
final class RowPublisher implements AutoCloseable {
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

    /** How long a topic that refused a record is not asked again: to find a topic missing takes max.block.ms. */
    private static final Duration TOPIC_PAUSE = Duration.ofSeconds(10);

    /** Topics that refused are forgotten at this number. */
    private static final int MAX_REFUSING = 1000;

    private final Producer<byte[], Object> producer;
    private final Predicate<String> ownsTopic;
    private final Map<String, Refusing> refusing = new HashMap<>();

    private record Refusing(long untilNanos, Exception error) {}

    RowPublisher(Map<?, ?> properties, Predicate<String> ownsTopic) {
        this(new KafkaProducer<>(producerProperties(properties)), ownsTopic);
    }

    RowPublisher(Producer<byte[], Object> producer, Predicate<String> ownsTopic) {
        this.producer = producer;
        this.ownsTopic = ownsTopic;
    }

    /** As those of {@code IdentityPublisher}, which says why; what would break them is replaced. */
    static Map<String, Object> producerProperties(Map<?, ?> given) {
        Map<String, Object> properties = new HashMap<>();
        properties.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, AvroSerializer.class.getName());
        properties.put("avro.remove.java.properties", "true");
        properties.put(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, "1");
        properties.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, "10000");
        properties.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, "30000");
        properties.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, "10000");
        // A wave is waited for, so there is nothing to linger for.
        properties.put(ProducerConfig.LINGER_MS_CONFIG, "0");
        given.forEach((key, value) -> properties.put(String.valueOf(key), value));
        properties.put(ProducerConfig.ACKS_CONFIG, "all");
        properties.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "true");
        properties.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class.getName());
        properties.remove(ProducerConfig.TRANSACTIONAL_ID_CONFIG);
        properties.remove(ProducerConfig.PARTITIONER_CLASS_CONFIG);
        properties.remove(ProducerConfig.PARTITIONER_IGNORE_KEYS_CONFIG);
        return properties;
    }

    /**
     * Sends a row.
     *
     * @return completed when all in-sync replicas have it, or with the error
     * @throws InterruptException when the thread is interrupted while it waits
     */
    CompletableFuture<@Nullable Void> publish(OutboxRow row) {
        CompletableFuture<@Nullable Void> result = new CompletableFuture<>();
        String topic = null;
        try {
            Event event = row.event();
            topic = ownsTopic.test(event.puri().namespace())
                    ? Topics.eventsOf(event.puri().namespace())
                    : Topics.EVENTS;
            Refusing refused = refusing.get(topic);
            if (refused != null && refused.untilNanos() - System.nanoTime() > 0) {
                result.completeExceptionally(refused.error());
                return result;
            }
            ProducerRecord<byte[], Object> record =
                    new ProducerRecord<>(topic, event.puri().toBytes(), EventAvro.toAvro(event));
            addHeader(record, "traceparent", row.traceparent());
            addHeader(record, "tracestate", row.tracestate());
            var unused = producer.send(record, (metadata, error) -> {
                if (error == null) {
                    result.complete(null);
                } else {
                    result.completeExceptionally(error);
                }
            });
        } catch (InterruptException e) {
            throw e;
        } catch (KafkaException | IllegalArgumentException e) {
            result.completeExceptionally(e);
        }
        if (topic != null && result.isCompletedExceptionally()) {
            remember(topic, errorOf(result));
        }
        return result;
    }

    private void remember(String topic, Exception error) {
        if (isOfTopic(error)) {
            if (refusing.size() >= MAX_REFUSING) {
                refusing.clear();
            }
            refusing.put(topic, new Refusing(System.nanoTime() + TOPIC_PAUSE.toNanos(), error));
        }
    }

    /** The error of a future that has failed. */
    static Exception errorOf(CompletableFuture<?> failed) {
        try {
            failed.join();
            throw new IllegalStateException("it did not fail");
        } catch (CompletionException e) {
            return e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    private static void addHeader(ProducerRecord<?, ?> record, String name, @Nullable String value) {
        if (value != null) {
            record.headers().add(name, value.getBytes(StandardCharsets.US_ASCII));
        }
    }

    private static boolean isOfTopic(Exception error) {
        return error instanceof TopicAuthorizationException
                || error instanceof InvalidTopicException
                || error instanceof UnknownTopicOrPartitionException
                || error instanceof TimeoutException
                        && error.getCause() instanceof Exception cause
                        && !(cause instanceof TimeoutException)
                        && isOfTopic(cause);
    }

    /**
     * Whether an error concerns one row or its topic, so that rows of other pURIs may get through. All others concern
     * the broker, the schema registry or this producer.
     */
    static boolean isOfRow(Throwable error) {
        if (error instanceof Exception e && isOfTopic(e)) {
            return true;
        }
        if (error instanceof SerializationException) {
            return !(error instanceof RegistryUnavailableException || error.getCause() instanceof IOException);
        }
        return !(error instanceof RetriableException
                || error instanceof AuthenticationException
                || error instanceof AuthorizationException
                || error instanceof ProducerFencedException
                || error instanceof InvalidProducerEpochException
                || error instanceof OutOfOrderSequenceException
                || error instanceof IllegalStateException);
    }

    @Override
    public void close() {
        producer.close(CLOSE_TIMEOUT);
    }
}

package dev.puri.client.outbox;

import dev.puri.client.IdentityPublisher;
import dev.puri.client.PublishException;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;

/**
 * Publishes rows as events, by a publisher of its own. It tells errors of a row from errors of the broker, and does not ask
 * for a topic again too soon that refused a record.
 */
final class RowPublisher implements AutoCloseable {
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

    /** Shorter waits than a publisher's. A wave is waited for, so there is nothing to linger for. */
    private static final Map<String, String> DEFAULTS = Map.of(
            ProducerConfig.MAX_BLOCK_MS_CONFIG, "10000",
            ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, "30000",
            ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, "10000",
            ProducerConfig.LINGER_MS_CONFIG, "0");

    /** Properties that a relay ignores: a publisher refuses other values than its own, or has no use for them here. */
    private static final Set<String> IGNORED = Set.of(
            ProducerConfig.ACKS_CONFIG,
            ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG,
            ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG,
            ProducerConfig.TRANSACTIONAL_ID_CONFIG,
            ProducerConfig.PARTITIONER_CLASS_CONFIG,
            ProducerConfig.PARTITIONER_IGNORE_KEYS_CONFIG,
            IdentityPublisher.RESOLVER_URL,
            IdentityPublisher.RESOLVER_TOKEN);

    /**
     * How long a topic that refused a record is not asked again, doubled by each further refusal: to find a topic missing
     * takes max.block.ms, in which nothing else is sent.
     */
    private static final Duration TOPIC_PAUSE = Duration.ofSeconds(10);

    private static final Duration MAX_TOPIC_PAUSE = Duration.ofMinutes(5);

    /** Topics that refused are forgotten at this number. */
    private static final int MAX_REFUSING = 1000;

    private final BiFunction<Event, Map<String, String>, CompletionStage<Position>> publisher;
    private final Runnable close;
    private final Predicate<String> ownsTopic;
    private final LongSupplier nanos;
    private final Map<String, Refusing> refusing = new HashMap<>();
    private boolean hasAskedAgain;

    private record Refusing(long untilNanos, Duration pause, Exception error) {}

    RowPublisher(Map<?, ?> properties, Predicate<String> ownsTopic) {
        this(new IdentityPublisher(publisherProperties(properties), ownsTopic), ownsTopic);
    }

    private RowPublisher(IdentityPublisher publisher, Predicate<String> ownsTopic) {
        this(publisher::publish, () -> publisher.close(CLOSE_TIMEOUT), ownsTopic, System::nanoTime);
    }

    /**
     * @param publisher publishes an event with headers
     * @param close closes it
     */
    RowPublisher(
            BiFunction<Event, Map<String, String>, CompletionStage<Position>> publisher,
            Runnable close,
            Predicate<String> ownsTopic,
            LongSupplier nanos) {
        this.publisher = publisher;
        this.close = close;
        this.ownsTopic = ownsTopic;
        this.nanos = nanos;
    }

    /** Begins a wave, in which one of the topics that refused is asked again at most. */
    void beginWave() {
        hasAskedAgain = false;
    }

    static Map<String, Object> publisherProperties(Map<?, ?> given) {
        Map<String, Object> properties = new HashMap<>(DEFAULTS);
        given.forEach((key, value) -> properties.put(String.valueOf(key), value));
        properties.keySet().removeAll(IGNORED);
        return properties;
    }

    /**
     * Publishes a row.
     *
     * @return completed when all in-sync replicas have it, or with the error
     * @throws InterruptException when the thread is interrupted while it waits
     */
    CompletableFuture<@Nullable Void> publish(OutboxRow row) {
        Event event;
        String topic;
        try {
            event = row.event();
            String namespace = event.puri().namespace();
            topic = Topics.eventsOf(namespace, ownsTopic.test(namespace));
        } catch (IllegalArgumentException e) {
            return CompletableFuture.failedFuture(e);
        }
        Refusing refused = refusing.get(topic);
        if (refused != null) {
            if (hasAskedAgain || refused.untilNanos() - nanos.getAsLong() > 0) {
                return CompletableFuture.failedFuture(refused.error());
            }
            hasAskedAgain = true;
        }
        CompletableFuture<@Nullable Void> result = new CompletableFuture<>();
        var unused = publisher.apply(event, headers(row)).whenComplete((position, error) -> {
            if (error == null) {
                result.complete(null);
            } else {
                result.completeExceptionally(unwrapped(error));
            }
        });
        if (result.isCompletedExceptionally()) {
            remember(topic, errorOf(result));
        } else {
            refusing.remove(topic);
        }
        return result;
    }

    private static Map<String, String> headers(OutboxRow row) {
        Map<String, String> headers = new HashMap<>();
        if (row.traceparent() != null) {
            headers.put("traceparent", row.traceparent());
        }
        if (row.tracestate() != null) {
            headers.put("tracestate", row.tracestate());
        }
        return headers;
    }

    private static Throwable unwrapped(Throwable error) {
        return error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    }

    private void remember(String topic, Exception error) {
        if (error instanceof PublishException failure && failure.scope() == PublishException.Scope.TOPIC) {
            if (refusing.size() >= MAX_REFUSING) {
                refusing.clear();
            }
            Refusing before = refusing.get(topic);
            Duration pause = before == null ? TOPIC_PAUSE : before.pause().multipliedBy(2);
            if (pause.compareTo(MAX_TOPIC_PAUSE) > 0) {
                pause = MAX_TOPIC_PAUSE;
            }
            refusing.put(topic, new Refusing(nanos.getAsLong() + pause.toNanos(), pause, error));
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

    /**
     * Whether an error concerns one row or its topic, so that rows of other pURIs may get through. All others concern
     * the broker, the schema registry or this publisher.
     */
    static boolean isOfRow(Throwable error) {
        return error instanceof PublishException failure
                ? failure.scope() != PublishException.Scope.PUBLISHER
                : error instanceof IllegalArgumentException;
    }

    /** What to record of an error of a row, whose pURI and id are beside it: Kafka's error, where it is one. */
    static String description(Throwable error) {
        Throwable cause = error instanceof PublishException && error.getCause() != null ? error.getCause() : error;
        return cause.getClass().getSimpleName() + ": " + cause.getMessage();
    }

    @Override
    public void close() {
        close.run();
    }
}

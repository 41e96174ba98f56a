package dev.puri.client.outbox;

import dev.puri.client.IdentityPublisher;
import dev.puri.client.PublishException;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;
import org.jspecify.annotations.Nullable;

/**
 * Publishes rows of an outbox as events, with its own {@link IdentityPublisher}, and classifies errors: errors of one
 * row, of a topic, or of the broker. Rows come in waves: rows of different pURIs that are sent together.
 *
 * <p>A send to a missing topic blocks the sending thread for {@code max.block.ms} and then fails. So each topic of a
 * wave has its own sending thread. After such a failure no further row of the wave is sent to the topic, and the topic
 * is paused: later waves fail the topic's rows without sending them. So missing topics delay a wave by {@code
 * max.block.ms} only once, however many topics are missing, and the rows of other topics are sent at the same time.
 */
final class RowPublisher implements AutoCloseable {
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

    /** Default delivery timeout of a publisher. */
    private static final Duration DEFAULT_DELIVERY_TIMEOUT = Duration.ofSeconds(30);

    /** A publisher fails an event at the latest this time after the delivery timeout. */
    private static final Duration DELIVERY_GRACE = Duration.ofSeconds(1);

    /**
     * Properties that differ from the defaults of a publisher. {@code max.block.ms} is shorter. {@code linger.ms} is
     * zero, because a wave is sent as a whole and its result is then awaited.
     */
    private static final Map<String, String> DEFAULTS =
            Map.of(ProducerConfig.MAX_BLOCK_MS_CONFIG, "10000", ProducerConfig.LINGER_MS_CONFIG, "0");

    /**
     * Properties that a relay ignores: a publisher allows only its own values for them, or a relay does not need them.
     */
    private static final Set<String> IGNORED_PROPERTIES = Set.of(
            ProducerConfig.ACKS_CONFIG,
            ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG,
            ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG,
            ProducerConfig.TRANSACTIONAL_ID_CONFIG,
            ProducerConfig.PARTITIONER_CLASS_CONFIG,
            ProducerConfig.PARTITIONER_IGNORE_KEYS_CONFIG,
            IdentityPublisher.RESOLVER_URL,
            IdentityPublisher.RESOLVER_TOKEN);

    /** First pause of a topic. Each further failure doubles the pause. */
    private static final Duration MIN_TOPIC_PAUSE = Duration.ofSeconds(10);

    private static final Duration MAX_TOPIC_PAUSE = Duration.ofMinutes(5);

    /** If this number of topics is paused, a failure of a further topic first ends all pauses. */
    private static final int MAX_PAUSED_TOPICS = 1000;

    /**
     * After a wave in which a retry of a paused topic failed, no paused topic is retried for the duration of that wave
     * times this factor. Otherwise many missing topics, whose pauses end one after the other, would delay every wave.
     */
    private static final int RETRY_BAN_FACTOR = 9;

    private final BiFunction<Event, Map<String, String>, CompletionStage<Position>> publisher;
    private final Runnable closePublisher;
    private final Predicate<String> namespaceOwnsTopic;
    private final LongSupplier nanoClock;
    private final ExecutorService senders = Executors.newCachedThreadPool(RowPublisher::newSenderThread);
    private final Map<String, TopicPause> pausesByTopic = new HashMap<>();

    /** No paused topic is retried before this time. */
    private long noRetryBeforeNanos;

    /** The pause of a topic after a failed send. The rows of the topic fail with the error during the pause. */
    private record TopicPause(long untilNanos, Duration duration, Exception error) {}

    /** A row and the event that is decoded from its payload. */
    private record Outgoing(OutboxRow row, Event event) {}

    RowPublisher(Map<?, ?> properties, Predicate<String> namespaceOwnsTopic) {
        this(new IdentityPublisher(publisherProperties(properties), namespaceOwnsTopic), namespaceOwnsTopic);
    }

    private RowPublisher(IdentityPublisher publisher, Predicate<String> namespaceOwnsTopic) {
        this(publisher::publish, () -> publisher.close(CLOSE_TIMEOUT), namespaceOwnsTopic, System::nanoTime);
    }

    /**
     * @param publisher publishes an event with headers
     * @param closePublisher closes it
     */
    RowPublisher(
            BiFunction<Event, Map<String, String>, CompletionStage<Position>> publisher,
            Runnable closePublisher,
            Predicate<String> namespaceOwnsTopic,
            LongSupplier nanoClock) {
        this.publisher = publisher;
        this.closePublisher = closePublisher;
        this.namespaceOwnsTopic = namespaceOwnsTopic;
        this.nanoClock = nanoClock;
        this.noRetryBeforeNanos = nanoClock.getAsLong();
    }

    private static Thread newSenderThread(Runnable task) {
        Thread thread = new Thread(task, "puri-outbox-sender");
        thread.setDaemon(true);
        return thread;
    }

    static Map<String, Object> publisherProperties(Map<?, ?> relayProperties) {
        Map<String, Object> properties = new HashMap<>(DEFAULTS);
        relayProperties.forEach((key, value) -> properties.put(String.valueOf(key), value));
        properties.keySet().removeAll(IGNORED_PROPERTIES);
        return properties;
    }

    /**
     * Returns the maximum time that a wave and then the closing of the publisher take, without the time in which the
     * serializer asks the schema registry.
     *
     * @param relayProperties properties of the relay; a value that is not a number counts as absent
     */
    static Duration waveAndCloseTimeout(Map<?, ?> relayProperties) {
        Map<String, Object> properties = publisherProperties(relayProperties);
        long requestMillis = millis(properties, ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, 0)
                + millis(properties, ProducerConfig.LINGER_MS_CONFIG, 0);
        long deliveryMillis = millis(
                properties,
                ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
                Math.max(DEFAULT_DELIVERY_TIMEOUT.toMillis(), requestMillis));
        long waveMillis = millis(properties, ProducerConfig.MAX_BLOCK_MS_CONFIG, 0)
                + Math.min(deliveryMillis + DELIVERY_GRACE.toMillis(), LeaderSession.WAVE_TIMEOUT.toMillis());
        return Duration.ofMillis(waveMillis).plus(CLOSE_TIMEOUT);
    }

    /** Returns the value of a property in milliseconds, at most ten minutes. */
    private static long millis(Map<String, Object> properties, String key, long defaultMillis) {
        Object value = properties.get(key);
        try {
            return value == null
                    ? defaultMillis
                    : Math.min(
                            Long.parseLong(String.valueOf(value).trim()),
                            Duration.ofMinutes(10).toMillis());
        } catch (NumberFormatException e) {
            return defaultMillis;
        }
    }

    /**
     * Sends a wave. Returns when each row is handed to the producer or has failed. If topics are missing, blocks for at
     * most {@code max.block.ms}.
     *
     * @param wave has at most one row of each pURI, so the order of topics does not matter
     * @return a future for each row, in the order of the wave. The future completes when all in-sync replicas have the
     *     event. It fails with the error of the row, or with an earlier error that affects its topic or all topics
     */
    Map<OutboxRow, CompletableFuture<@Nullable Void>> publish(List<OutboxRow> wave) throws InterruptedException {
        Map<OutboxRow, CompletableFuture<@Nullable Void>> results = new HashMap<>();
        Map<String, List<Outgoing>> rowsByTopic = new LinkedHashMap<>();
        for (OutboxRow row : wave) {
            try {
                Event event = row.event();
                rowsByTopic
                        .computeIfAbsent(topic(event), topic -> new ArrayList<>())
                        .add(new Outgoing(row, event));
            } catch (IllegalArgumentException e) {
                results.put(row, CompletableFuture.failedFuture(e));
            }
        }
        long startedAt = nanoClock.getAsLong();
        rowsByTopic.entrySet().removeIf(entry -> {
            Exception error = pauseError(entry.getKey(), startedAt);
            if (error == null) {
                return false;
            }
            entry.getValue().forEach(outgoing -> results.put(outgoing.row(), CompletableFuture.failedFuture(error)));
            return true;
        });
        boolean hasRetryFailed = false;
        Map<String, Map<OutboxRow, CompletableFuture<@Nullable Void>>> sent = sendAll(rowsByTopic);
        for (Map.Entry<String, Map<OutboxRow, CompletableFuture<@Nullable Void>>> entry : sent.entrySet()) {
            boolean isRetry = pausesByTopic.containsKey(entry.getKey());
            Exception error = findTopicError(entry.getValue().values());
            if (error == null) {
                pausesByTopic.remove(entry.getKey());
            } else {
                pause(entry.getKey(), error);
                hasRetryFailed |= isRetry;
            }
            results.putAll(entry.getValue());
        }
        if (hasRetryFailed) {
            long now = nanoClock.getAsLong();
            noRetryBeforeNanos = now + RETRY_BAN_FACTOR * (now - startedAt);
        }
        Map<OutboxRow, CompletableFuture<@Nullable Void>> inOrder = new LinkedHashMap<>();
        for (OutboxRow row : wave) {
            CompletableFuture<@Nullable Void> result = results.get(row);
            if (result != null) {
                inOrder.put(row, result);
            }
        }
        return inOrder;
    }

    /** Returns the error that paused a topic; null if rows may be sent to the topic now. */
    private @Nullable Exception pauseError(String topic, long now) {
        TopicPause topicPause = pausesByTopic.get(topic);
        if (topicPause == null) {
            return null;
        }
        return now - topicPause.untilNanos() < 0 || now - noRetryBeforeNanos < 0 ? topicPause.error() : null;
    }

    /** The topic of an event. */
    private String topic(Event event) {
        String namespace = event.puri().namespace();
        try {
            return Topics.eventsTopicOf(namespace, namespaceOwnsTopic.test(namespace));
        } catch (RuntimeException e) {
            throw new IllegalArgumentException(
                    "failed to determine whether the namespace " + namespace + " has its own topic: " + e, e);
        }
    }

    /**
     * Sends the rows of each topic on a separate thread. If there is only one topic, sends its rows on the calling
     * thread.
     */
    private Map<String, Map<OutboxRow, CompletableFuture<@Nullable Void>>> sendAll(
            Map<String, List<Outgoing>> rowsByTopic) throws InterruptedException {
        Map<String, Map<OutboxRow, CompletableFuture<@Nullable Void>>> sent = new LinkedHashMap<>();
        if (rowsByTopic.size() <= 1) {
            for (Map.Entry<String, List<Outgoing>> entry : rowsByTopic.entrySet()) {
                sent.put(entry.getKey(), send(entry.getValue()));
            }
            return sent;
        }
        Map<String, Future<Map<OutboxRow, CompletableFuture<@Nullable Void>>>> tasksByTopic = new LinkedHashMap<>();
        rowsByTopic.forEach((topic, rows) -> tasksByTopic.put(topic, senders.submit(() -> send(rows))));
        for (Map.Entry<String, Future<Map<OutboxRow, CompletableFuture<@Nullable Void>>>> entry :
                tasksByTopic.entrySet()) {
            try {
                sent.put(entry.getKey(), entry.getValue().get());
            } catch (ExecutionException e) {
                if (e.getCause() instanceof InterruptedException interrupted) {
                    throw interrupted;
                }
                throw new IllegalStateException(
                        "bug: a send threw an exception instead of failing its future", e.getCause());
            }
        }
        return sent;
    }

    /**
     * Sends rows of one topic in their order. After a failure that affects the whole topic or all topics, the other
     * rows fail with the same error.
     */
    private Map<OutboxRow, CompletableFuture<@Nullable Void>> send(List<Outgoing> rows) throws InterruptedException {
        Map<OutboxRow, CompletableFuture<@Nullable Void>> results = new LinkedHashMap<>();
        Exception failure = null;
        for (Outgoing outgoing : rows) {
            if (failure != null) {
                results.put(outgoing.row(), CompletableFuture.failedFuture(failure));
                continue;
            }
            CompletableFuture<@Nullable Void> result = send(outgoing);
            results.put(outgoing.row(), result);
            if (result.isCompletedExceptionally()) {
                Exception error = errorOf(result);
                failure = isTopicError(error) || !isRowError(error) ? error : null;
            }
        }
        return results;
    }

    private CompletableFuture<@Nullable Void> send(Outgoing outgoing) throws InterruptedException {
        CompletableFuture<@Nullable Void> result = new CompletableFuture<>();
        try {
            var unused = publisher
                    .apply(outgoing.event(), headers(outgoing.row()))
                    .whenComplete((position, error) -> {
                        if (error == null) {
                            result.complete(null);
                        } else {
                            result.completeExceptionally(unwrapped(error));
                        }
                    });
        } catch (InterruptException e) {
            throw (InterruptedException) new InterruptedException("interrupted while sending").initCause(e);
        }
        return result;
    }

    /** Returns an error of the topic from the futures that have failed already; null if there is none. */
    private static @Nullable Exception findTopicError(Collection<CompletableFuture<@Nullable Void>> results) {
        return results.stream()
                .filter(CompletableFuture::isCompletedExceptionally)
                .map(RowPublisher::errorOf)
                .filter(RowPublisher::isTopicError)
                .findFirst()
                .orElse(null);
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

    private void pause(String topic, Exception error) {
        TopicPause previous = pausesByTopic.get(topic);
        if (previous == null && pausesByTopic.size() >= MAX_PAUSED_TOPICS) {
            pausesByTopic.clear();
        }
        Duration duration =
                previous == null ? MIN_TOPIC_PAUSE : previous.duration().multipliedBy(2);
        if (duration.compareTo(MAX_TOPIC_PAUSE) > 0) {
            duration = MAX_TOPIC_PAUSE;
        }
        pausesByTopic.put(topic, new TopicPause(nanoClock.getAsLong() + duration.toNanos(), duration, error));
    }

    /** Returns the error of a failed future. */
    static Exception errorOf(CompletableFuture<?> failed) {
        try {
            failed.join();
            throw new IllegalStateException("bug: the future did not fail");
        } catch (CompletionException e) {
            return e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    /**
     * Returns whether an error affects only one row or its topic, so that rows of other pURIs may be published. All
     * other errors are of the broker, the schema registry or this publisher.
     */
    static boolean isRowError(Throwable error) {
        return error instanceof PublishException failure
                ? failure.scope() != PublishException.Scope.PUBLISHER
                : error instanceof IllegalArgumentException;
    }

    /**
     * Returns whether the cause may be one partition that has no leader or too few replicas. Kafka retries such errors
     * until a timeout.
     */
    static boolean mayBePartitionError(Throwable error) {
        Throwable cause = error instanceof PublishException && error.getCause() != null ? error.getCause() : error;
        return cause instanceof TimeoutException || cause instanceof RetriableException;
    }

    private static boolean isTopicError(Throwable error) {
        return error instanceof PublishException failure && failure.scope() == PublishException.Scope.TOPIC;
    }

    /**
     * Returns the error text for the table of blocked rows. Of a {@link PublishException} it is the text of the cause,
     * because its own text repeats the pURI and the event id, which have their own columns.
     */
    static String description(Throwable error) {
        Throwable cause = error instanceof PublishException && error.getCause() != null ? error.getCause() : error;
        return cause.getClass().getSimpleName() + ": " + cause.getMessage();
    }

    @Override
    public void close() {
        senders.shutdownNow();
        closePublisher.run();
    }
}

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
 * Publishes rows as events with a publisher of its own, and tells errors of a row from errors of the broker.
 *
 * <p>A send to a missing topic blocks its thread for {@code max.block.ms} and then fails. So each topic of a wave has a sending thread of
 * its own. After such a failure the topic gets no further row of the wave, and is paused: later waves fail its rows without a send.
 * However many topics are missing, a wave takes {@code max.block.ms} once, and the rows of other topics are sent meanwhile.
 */
final class RowPublisher implements AutoCloseable {
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

    /** Delivery timeout of a publisher unless {@code delivery.timeout.ms} is set. */
    private static final Duration DELIVERY_TIMEOUT = Duration.ofSeconds(30);

    /** Time beyond the delivery timeout after which a publisher fails an event. */
    private static final Duration DELIVERY_GRACE = Duration.ofSeconds(1);

    /**
     * {@code max.block.ms} is shorter than a publisher's; its other timeouts adapt to those that the caller sets. There is no linger,
     * because a wave is sent whole and then waited for.
     */
    private static final Map<String, String> DEFAULTS =
            Map.of(ProducerConfig.MAX_BLOCK_MS_CONFIG, "10000", ProducerConfig.LINGER_MS_CONFIG, "0");

    /** Properties that a relay ignores, because a publisher refuses other values than its own or a relay does not need them. */
    private static final Set<String> IGNORED = Set.of(
            ProducerConfig.ACKS_CONFIG,
            ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG,
            ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG,
            ProducerConfig.TRANSACTIONAL_ID_CONFIG,
            ProducerConfig.PARTITIONER_CLASS_CONFIG,
            ProducerConfig.PARTITIONER_IGNORE_KEYS_CONFIG,
            IdentityPublisher.RESOLVER_URL,
            IdentityPublisher.RESOLVER_TOKEN);

    /** First pause of a topic, doubled by each further failure. */
    private static final Duration TOPIC_PAUSE = Duration.ofSeconds(10);

    private static final Duration MAX_TOPIC_PAUSE = Duration.ofMinutes(5);

    /** All pauses are forgotten when there are so many. */
    private static final int MAX_PAUSED = 1000;

    /**
     * After a wave that retried paused topics in vain, none is retried for this many times the duration of that wave. Otherwise many
     * missing topics, whose pauses end one after the other, would hold up every wave.
     */
    private static final int REST_FACTOR = 9;

    private final BiFunction<Event, Map<String, String>, CompletionStage<Position>> publisher;
    private final Runnable close;
    private final Predicate<String> ownsTopic;
    private final LongSupplier nanos;
    private final ExecutorService senders = Executors.newCachedThreadPool(RowPublisher::thread);
    private final Map<String, PausedTopic> paused = new HashMap<>();

    /** Until then no paused topic is retried. */
    private long restUntilNanos;

    /** A topic to which a send failed at once, with the error that its rows get during the pause. */
    private record PausedTopic(long untilNanos, Duration pause, Exception error) {}

    /** A row and its decoded event. */
    private record Outgoing(OutboxRow row, Event event) {}

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
        this.restUntilNanos = nanos.getAsLong();
    }

    private static Thread thread(Runnable sending) {
        Thread thread = new Thread(sending, "puri-outbox-sender");
        thread.setDaemon(true);
        return thread;
    }

    static Map<String, Object> publisherProperties(Map<?, ?> given) {
        Map<String, Object> properties = new HashMap<>(DEFAULTS);
        given.forEach((key, value) -> properties.put(String.valueOf(key), value));
        properties.keySet().removeAll(IGNORED);
        return properties;
    }

    /**
     * Returns how long a wave and closing the publisher after it take at most, without the time in which the serializer asks the schema
     * registry.
     *
     * @param given properties of the publisher; a value that Kafka refuses counts as absent
     */
    static Duration closeTimeout(Map<?, ?> given) {
        Map<String, Object> properties = publisherProperties(given);
        long request = millis(properties, ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, 0)
                + millis(properties, ProducerConfig.LINGER_MS_CONFIG, 0);
        long delivery = millis(
                properties, ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, Math.max(DELIVERY_TIMEOUT.toMillis(), request));
        long wave = millis(properties, ProducerConfig.MAX_BLOCK_MS_CONFIG, 0)
                + Math.min(delivery + DELIVERY_GRACE.toMillis(), LeaderSession.ANSWER_TIMEOUT.toMillis());
        return Duration.ofMillis(wave).plus(CLOSE_TIMEOUT);
    }

    /** The value of a property in milliseconds, at most ten minutes. */
    private static long millis(Map<String, Object> properties, String key, long otherwise) {
        Object value = properties.get(key);
        try {
            return value == null
                    ? otherwise
                    : Math.min(
                            Long.parseLong(String.valueOf(value).trim()),
                            Duration.ofMinutes(10).toMillis());
        } catch (NumberFormatException e) {
            return otherwise;
        }
    }

    /**
     * Sends a wave. Returns when each row is sent or failed; blocks for {@code max.block.ms} at most if topics are missing.
     *
     * @param wave at most one row of each pURI, so that the order among topics does not matter
     * @return a future for each row, in the order of the wave. It completes when all in-sync replicas have the event, or with the
     *     error of this row or of an earlier one of its topic
     */
    Map<OutboxRow, CompletableFuture<@Nullable Void>> publish(List<OutboxRow> wave) throws InterruptedException {
        Map<OutboxRow, CompletableFuture<@Nullable Void>> answers = new HashMap<>();
        Map<String, List<Outgoing>> byTopic = new LinkedHashMap<>();
        for (OutboxRow row : wave) {
            try {
                Event event = row.event();
                byTopic.computeIfAbsent(topic(event), topic -> new ArrayList<>())
                        .add(new Outgoing(row, event));
            } catch (IllegalArgumentException e) {
                answers.put(row, CompletableFuture.failedFuture(e));
            }
        }
        long begunAt = nanos.getAsLong();
        byTopic.entrySet().removeIf(each -> {
            Exception error = pauseError(each.getKey(), begunAt);
            if (error == null) {
                return false;
            }
            each.getValue().forEach(one -> answers.put(one.row(), CompletableFuture.failedFuture(error)));
            return true;
        });
        boolean isRetriedInVain = false;
        Map<String, Map<OutboxRow, CompletableFuture<@Nullable Void>>> sent = sendAll(byTopic);
        for (Map.Entry<String, Map<OutboxRow, CompletableFuture<@Nullable Void>>> each : sent.entrySet()) {
            boolean isRetry = paused.containsKey(each.getKey());
            Exception error = topicError(each.getValue().values());
            if (error == null) {
                paused.remove(each.getKey());
            } else {
                pause(each.getKey(), error);
                isRetriedInVain |= isRetry;
            }
            answers.putAll(each.getValue());
        }
        if (isRetriedInVain) {
            long now = nanos.getAsLong();
            restUntilNanos = now + REST_FACTOR * (now - begunAt);
        }
        Map<OutboxRow, CompletableFuture<@Nullable Void>> inOrder = new LinkedHashMap<>();
        for (OutboxRow row : wave) {
            CompletableFuture<@Nullable Void> answer = answers.get(row);
            if (answer != null) {
                inOrder.put(row, answer);
            }
        }
        return inOrder;
    }

    /** The error that paused a topic; null if rows may be sent to it now. */
    private @Nullable Exception pauseError(String topic, long now) {
        PausedTopic pause = paused.get(topic);
        if (pause == null) {
            return null;
        }
        return now - pause.untilNanos() < 0 || now - restUntilNanos < 0 ? pause.error() : null;
    }

    /** The topic of an event. */
    private String topic(Event event) {
        String namespace = event.puri().namespace();
        try {
            return Topics.eventsOf(namespace, ownsTopic.test(namespace));
        } catch (RuntimeException e) {
            throw new IllegalArgumentException(
                    "nobody could tell whether the namespace " + namespace + " owns its topic: " + e, e);
        }
    }

    /** Sends the rows of each topic on a thread of its own; those of a single topic on the calling thread. */
    private Map<String, Map<OutboxRow, CompletableFuture<@Nullable Void>>> sendAll(Map<String, List<Outgoing>> byTopic)
            throws InterruptedException {
        Map<String, Map<OutboxRow, CompletableFuture<@Nullable Void>>> sent = new LinkedHashMap<>();
        if (byTopic.size() <= 1) {
            for (Map.Entry<String, List<Outgoing>> each : byTopic.entrySet()) {
                sent.put(each.getKey(), send(each.getValue()));
            }
            return sent;
        }
        Map<String, Future<Map<OutboxRow, CompletableFuture<@Nullable Void>>>> sending = new LinkedHashMap<>();
        byTopic.forEach((topic, rows) -> sending.put(topic, senders.submit(() -> send(rows))));
        for (Map.Entry<String, Future<Map<OutboxRow, CompletableFuture<@Nullable Void>>>> each : sending.entrySet()) {
            try {
                sent.put(each.getKey(), each.getValue().get());
            } catch (ExecutionException e) {
                if (e.getCause() instanceof InterruptedException interrupted) {
                    throw interrupted;
                }
                throw new IllegalStateException("a send reports every failure in its future", e.getCause());
            }
        }
        return sent;
    }

    /** Sends rows of one topic in their order. The first failure that concerns more than its own row fails the rest. */
    private Map<OutboxRow, CompletableFuture<@Nullable Void>> send(List<Outgoing> rows) throws InterruptedException {
        Map<OutboxRow, CompletableFuture<@Nullable Void>> answers = new LinkedHashMap<>();
        Exception failure = null;
        for (Outgoing each : rows) {
            if (failure != null) {
                answers.put(each.row(), CompletableFuture.failedFuture(failure));
                continue;
            }
            CompletableFuture<@Nullable Void> answer = send(each);
            answers.put(each.row(), answer);
            if (answer.isCompletedExceptionally()) {
                Exception error = errorOf(answer);
                failure = isOfTopic(error) || !isOfRow(error) ? error : null;
            }
        }
        return answers;
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

    /** The error of the topic among futures that have failed already; null if there is none. */
    private static @Nullable Exception topicError(Collection<CompletableFuture<@Nullable Void>> answers) {
        return answers.stream()
                .filter(CompletableFuture::isCompletedExceptionally)
                .map(RowPublisher::errorOf)
                .filter(RowPublisher::isOfTopic)
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
        if (paused.size() >= MAX_PAUSED) {
            paused.clear();
        }
        PausedTopic before = paused.get(topic);
        Duration pause = before == null ? TOPIC_PAUSE : before.pause().multipliedBy(2);
        if (pause.compareTo(MAX_TOPIC_PAUSE) > 0) {
            pause = MAX_TOPIC_PAUSE;
        }
        paused.put(topic, new PausedTopic(nanos.getAsLong() + pause.toNanos(), pause, error));
    }

    /** The error of a failed future. */
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

    /** Whether the error may come from one partition, without a leader or with too few replicas: Kafka retries these until a timeout. */
    static boolean mayBeOfPartition(Throwable error) {
        Throwable cause = error instanceof PublishException && error.getCause() != null ? error.getCause() : error;
        return cause instanceof TimeoutException || cause instanceof RetriableException;
    }

    private static boolean isOfTopic(Throwable error) {
        return error instanceof PublishException failure && failure.scope() == PublishException.Scope.TOPIC;
    }

    /** The text of a row's error for its column: that of Kafka's exception if there is one, since pURI and id have columns of their own. */
    static String description(Throwable error) {
        Throwable cause = error instanceof PublishException && error.getCause() != null ? error.getCause() : error;
        return cause.getClass().getSimpleName() + ": " + cause.getMessage();
    }

    @Override
    public void close() {
        senders.shutdownNow();
        close.run();
    }
}

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
 * Publishes rows as events, by a publisher of its own. It tells errors of a row from errors of the broker.
 *
 * <p>To find a topic missing takes {@code max.block.ms}, in which the sending thread is blocked. So the topics of a wave are
 * sent to by threads of their own, a topic that refused a record gets no other of the wave, and it is not asked again for a
 * pause. However many topics are missing, a wave takes that time once, and the rows of the others go on.
 */
final class RowPublisher implements AutoCloseable {
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

    /** A publisher's, unless {@code delivery.timeout.ms} is set. */
    private static final Duration DELIVERY_TIMEOUT = Duration.ofSeconds(30);

    /** After which a publisher gives an event up beyond its delivery timeout. */
    private static final Duration DELIVERY_GRACE = Duration.ofSeconds(1);

    /**
     * A shorter wait than a publisher's; the other timeouts fit what the caller sets. A wave is waited for, so there is nothing
     * to linger for.
     */
    private static final Map<String, String> DEFAULTS =
            Map.of(ProducerConfig.MAX_BLOCK_MS_CONFIG, "10000", ProducerConfig.LINGER_MS_CONFIG, "0");

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

    /** How long a topic that refused a record is not asked again, doubled by each further refusal. */
    private static final Duration TOPIC_PAUSE = Duration.ofSeconds(10);

    private static final Duration MAX_TOPIC_PAUSE = Duration.ofMinutes(5);

    /** Topics that refused are forgotten at this number. */
    private static final int MAX_REFUSING = 1000;

    /**
     * After a wave that asked missing topics again in vain, none is asked again for so many times as long, or many of them, whose
     * pauses end one after the other, would hold up every wave.
     */
    private static final int REST_AFTER_ASKING = 9;

    private final BiFunction<Event, Map<String, String>, CompletionStage<Position>> publisher;
    private final Runnable close;
    private final Predicate<String> ownsTopic;
    private final LongSupplier nanos;
    private final ExecutorService senders = Executors.newCachedThreadPool(RowPublisher::thread);
    private final Map<String, Refusing> refusing = new HashMap<>();
    private long restUntilNanos;

    private record Refusing(long untilNanos, Duration pause, Exception error) {}

    /** A row that can be read. */
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
     * How long a wave and closing the publisher after it take, apart from the answers of a schema registry.
     *
     * @param given as a publisher is opened with; a value that Kafka refuses counts as absent
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

    /** At most ten minutes. */
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
     * Publishes a wave. Returns when each row is sent or refused; blocks for {@code max.block.ms} at most if topics are missing.
     *
     * @param wave at most one row of each pURI, so that the order among topics does not matter
     * @return for each row, in the order of the wave, what is completed when all in-sync replicas have it, or with the error
     *     of this row or of one before it on its topic
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
            Exception pause = pause(each.getKey(), begunAt);
            if (pause == null) {
                return false;
            }
            each.getValue().forEach(one -> answers.put(one.row(), CompletableFuture.failedFuture(pause)));
            return true;
        });
        boolean isRefusedAgain = false;
        Map<String, Map<OutboxRow, CompletableFuture<@Nullable Void>>> sent = sendAll(byTopic);
        for (Map.Entry<String, Map<OutboxRow, CompletableFuture<@Nullable Void>>> each : sent.entrySet()) {
            boolean wasRefusing = refusing.containsKey(each.getKey());
            Exception refusal = refusal(each.getValue().values());
            if (refusal == null) {
                refusing.remove(each.getKey());
            } else {
                remember(each.getKey(), refusal);
                isRefusedAgain |= wasRefusing;
            }
            answers.putAll(each.getValue());
        }
        if (isRefusedAgain) {
            long now = nanos.getAsLong();
            restUntilNanos = now + REST_AFTER_ASKING * (now - begunAt);
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

    /** The error by which a topic refused a record, if it is not to be asked now; null if it is. */
    private @Nullable Exception pause(String topic, long now) {
        Refusing refused = refusing.get(topic);
        if (refused == null) {
            return null;
        }
        return now - refused.untilNanos() < 0 || now - restUntilNanos < 0 ? refused.error() : null;
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

    /** The topics side by side, each by a thread; one alone by the thread that calls. */
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
                throw new IllegalStateException("sending fails by its answers alone", e.getCause());
            }
        }
        return sent;
    }

    /** Sends rows of one topic in their order. The first that fails for more than itself fails the rest. */
    private Map<OutboxRow, CompletableFuture<@Nullable Void>> send(List<Outgoing> rows) throws InterruptedException {
        Map<OutboxRow, CompletableFuture<@Nullable Void>> answers = new LinkedHashMap<>();
        Exception refusal = null;
        for (Outgoing each : rows) {
            if (refusal != null) {
                answers.put(each.row(), CompletableFuture.failedFuture(refusal));
                continue;
            }
            CompletableFuture<@Nullable Void> answer = send(each);
            answers.put(each.row(), answer);
            if (answer.isCompletedExceptionally()) {
                Exception error = errorOf(answer);
                refusal = isOfTopic(error) || !isOfRow(error) ? error : null;
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

    /** The error by which a topic refused a row at once; null when it did not. */
    private static @Nullable Exception refusal(Collection<CompletableFuture<@Nullable Void>> answers) {
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

    private void remember(String topic, Exception error) {
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

    /** Whether the partition's leader may be away or lack replicas: Kafka tried again until its time was over. */
    static boolean mayBeOfPartition(Throwable error) {
        Throwable cause = error instanceof PublishException && error.getCause() != null ? error.getCause() : error;
        return cause instanceof TimeoutException || cause instanceof RetriableException;
    }

    private static boolean isOfTopic(Throwable error) {
        return error instanceof PublishException failure && failure.scope() == PublishException.Scope.TOPIC;
    }

    /** What to record of an error of a row, whose pURI and id are beside it: Kafka's error, where it is one. */
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

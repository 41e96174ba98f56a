package dev.puri.client;

import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.client.resolve.ResolverOptions;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.EventAvro;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Predicate;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Publishes events to Kafka. Thread-safe. A service needs only one publisher.
 *
 * <p><b>Retries.</b> After any failure, publish the same event again, in this process or another one. The event keeps
 * its id, so the registry counts it once. But the registry remembers only the last 8 applied events of each pURI. Do
 * not publish an event again after 8 later events of its pURI: the registry would apply it twice.
 *
 * <p><b>Order.</b> If one thread publishes the events of a pURI, the log has them in the same order. A failed event
 * that is published again comes after the events that were published in between. So publish it before later events of
 * its pURI, as {@link #publishAll} does within a batch. The registry refuses a late event that has {@link
 * Events.Draft#ifEpoch}.
 *
 * <p><b>Bounds.</b> Unacknowledged events are in the producer's buffer, {@code buffer.memory} (32 MiB). While the
 * buffer is full or no broker is reachable, publishing blocks for at most {@code max.block.ms} and then fails. No event
 * is lost without an error: each is acknowledged or fails with a {@link PublishException}.
 */
public final class IdentityPublisher implements AutoCloseable {
    /** Name of the property with the base URL of a resolver, for {@link #await}. */
    public static final String RESOLVER_URL = "puri.resolver.url";

    /** Name of the optional property with the bearer token for the resolver. */
    public static final String RESOLVER_TOKEN = "puri.resolver.token";

    /** Time beyond the delivery timeout in which the producer may report its own error. */
    private static final Duration DELIVERY_GRACE = Duration.ofMillis(750);

    /** Time that {@link #flush} allows for callbacks after all events have ended. */
    private static final Duration CALLBACK_GRACE = Duration.ofMillis(750);

    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(35);

    /**
     * Sends every event to the shared topic. Compared by {@code ==}, which avoids extracting the namespace of each
     * event.
     */
    private static final Predicate<String> NO_TOPICS_OF_NAMESPACES = namespace -> false;

    static final String CLOSED = "this publisher is closed";

    private final Producer<byte[], Object> producer;
    private final String bootstrapServers;
    private final Predicate<String> ownsTopic;

    /** Converts an event to the serializer's input: the event itself, or its Avro record for another serializer. */
    private final Function<Event, Object> toValue;

    /** Null if no resolver is configured. */
    private final @Nullable AwaitedOutcomes outcomes;

    private final InFlightEvents inFlight;

    /** Number of flushes that were requested since the flush thread started; 0 while there is no flush thread. */
    private final AtomicInteger flushes = new AtomicInteger();

    private volatile boolean isClosed;

    /**
     * Opens a publisher that sends all events to the shared topic.
     *
     * @see #IdentityPublisher(Map, Predicate)
     */
    public IdentityPublisher(Map<?, ?> properties) {
        this(properties, NO_TOPICS_OF_NAMESPACES);
    }

    /**
     * Opens a publisher. It connects in the background.
     *
     * @param properties properties of Kafka, including {@code bootstrap.servers}, and of the serializer, including
     *     {@code schema.registry.url}. {@code value.serializer} may name another serializer, such as {@code
     *     io.confluent.kafka.serializers.KafkaAvroSerializer}, which gets its properties unchanged. Defaults: {@code
     *     delivery.timeout.ms} 30 s, {@code max.in.flight.requests.per.connection} 1
     * @param ownsTopic returns whether a namespace has its own events topic; called for each event. Usually {@code
     *     declarations::ownsTopic}
     * @throws IllegalArgumentException if a property is invalid or breaks a guarantee that the registry relies on; the
     *     message lists all mistakes
     */
    public IdentityPublisher(Map<?, ?> properties, Predicate<String> ownsTopic) {
        this(Connections.open(properties), ownsTopic);
    }

    /**
     * Opens a publisher that shares the caller's resolver client.
     *
     * @param properties properties of Kafka and of the serializer; properties of a resolver are ignored
     * @param ownsTopic returns whether a namespace has its own events topic
     * @param resolver used by {@link #await}. The caller must close it after this publisher
     * @throws IllegalArgumentException if a property is invalid
     * @see #IdentityPublisher(Map, Predicate)
     */
    public IdentityPublisher(Map<?, ?> properties, Predicate<String> ownsTopic, IdentityResolver resolver) {
        this(Connections.open(properties, resolver), ownsTopic);
    }

    private IdentityPublisher(Connections connections, Predicate<String> ownsTopic) {
        this.producer = connections.producer();
        this.bootstrapServers = connections.bootstrapServers();
        this.toValue = connections.toValue();
        this.inFlight = new InFlightEvents(connections.resultTimeout(), this::failure);
        this.outcomes = connections.outcomes();
        this.ownsTopic = ownsTopic;
    }

    IdentityPublisher(Producer<byte[], Object> producer, Predicate<String> ownsTopic) {
        this(producer, ProducerProperties.KAFKA_DELIVERY_TIMEOUT, ownsTopic);
    }

    IdentityPublisher(Producer<byte[], Object> producer, Duration resultTimeout, Predicate<String> ownsTopic) {
        this(new Connections(producer, "localhost:9092", EventAvro::toAvro, resultTimeout, null), ownsTopic);
    }

    IdentityPublisher(Producer<byte[], Object> producer, IdentityResolver resolver) {
        this(
                new Connections(
                        producer,
                        "localhost:9092",
                        EventAvro::toAvro,
                        ProducerProperties.KAFKA_DELIVERY_TIMEOUT,
                        new AwaitedOutcomes(resolver, false)),
                namespace -> false);
    }

    /** The producer and the resolver of a publisher. */
    private record Connections(
            Producer<byte[], Object> producer,
            String bootstrapServers,
            Function<Event, Object> toValue,
            Duration resultTimeout,
            @Nullable AwaitedOutcomes outcomes) {
        static Connections open(Map<?, ?> given) {
            Map<String, Object> properties = ProducerProperties.of(given);
            ResolverOptions options = ProducerProperties.resolver(given);
            AwaitedOutcomes outcomes = options == null ? null : new AwaitedOutcomes(ResolverClient.open(options), true);
            try {
                return of(new KafkaProducer<>(properties), properties, outcomes);
            } catch (RuntimeException | Error e) {
                if (outcomes != null) {
                    outcomes.close();
                }
                throw e;
            }
        }

        static Connections open(Map<?, ?> given, IdentityResolver resolver) {
            Map<String, Object> properties = ProducerProperties.of(given);
            return of(new KafkaProducer<>(properties), properties, new AwaitedOutcomes(resolver, false));
        }

        private static Connections of(
                Producer<byte[], Object> producer, Map<String, Object> properties, @Nullable AwaitedOutcomes outcomes) {
            String servers = String.valueOf(properties.get(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG));
            Duration resultTimeout =
                    ProducerProperties.deliveryTimeout(properties).plus(DELIVERY_GRACE);
            Function<Event, Object> toValue =
                    ProducerProperties.takesEvents(properties) ? event -> event : EventAvro::toAvro;
            return new Connections(producer, servers, toValue, resultTimeout, outcomes);
        }
    }

    /**
     * Publishes an event without headers.
     *
     * @see #publish(Event, Map)
     */
    public CompletionStage<Position> publish(Event event) {
        return publish(event, Map.of());
    }

    /**
     * Publishes an event. Blocks for at most {@code max.block.ms} (30 s) while the producer's buffer is full or the
     * topic's metadata is unknown. Also blocks while the serializer calls the schema registry.
     *
     * @param headers headers of the record, such as {@code traceparent}; values are encoded in UTF-8
     * @return completes with the event's position in the log when all in-sync replicas have the event. The text of the
     *     position is the token for look-ups. Fails with a {@link PublishException} at most a second after {@code
     *     delivery.timeout.ms}, or at once if this publisher is closed. The thread of the producer or of a timer
     *     completes the stage, so callbacks must not block. While callbacks of 8 failed events block, other stages may
     *     fail later
     * @throws InterruptException if the thread is interrupted while it blocks
     */
    public CompletionStage<Position> publish(Event event, Map<String, String> headers) {
        return send(event, headers);
    }

    /**
     * Publishes an event and waits for its acknowledgement. Must not be called in a callback of this publisher's
     * stages.
     *
     * @return the event's position in the log; its text is the token for look-ups
     * @throws PublishException if the event is not acknowledged
     * @throws InterruptException if the thread is interrupted while it waits; the log may still receive the event
     */
    public Position publishSync(Event event) {
        Delivery delivery = EventBatch.awaitDelivery(event, send(event, Map.of()));
        if (delivery instanceof Delivery.Acknowledged acknowledged) {
            return acknowledged.token();
        }
        throw new PublishException(((Delivery.Failed) delivery).error());
    }

    /**
     * Publishes a batch of events and waits for all results. The batch continues after the failure of an event. Must
     * not be called in a callback of this publisher's stages.
     *
     * <p>An event is sent when all earlier events of its pURI in the batch are acknowledged. If an event fails, the
     * later events of its pURI are not sent, and the cause of their {@link PublishException} is the exception of the
     * failed event. To repeat a batch, publish the events of its {@link Delivery.Failed} deliveries in their order.
     * Each identity then has the state of its last event. Repeat a whole batch only if it has at most 8 events of each
     * pURI: the registry remembers the ids of the last 8 applied events of a pURI, and would apply an older event
     * again.
     *
     * <p>Events of different pURIs are sent together. A batch takes as many round trips as its most frequent pURI has
     * events.
     *
     * <p>After a failure, events that would fail for the same reason ({@link PublishException#scope}) are not sent. So
     * a batch with failures takes at most one {@code delivery.timeout.ms} and one {@code max.block.ms} per topic
     * longer.
     *
     * @param events the events; those of the same pURI must be in their order
     * @return the result of each event, in the order of the list
     * @throws InterruptException if the thread is interrupted while it waits; the log may still receive any of the
     *     events. Publish the whole batch again if it has at most 8 events of each pURI
     */
    public List<Delivery> publishAll(List<Event> events) {
        EventBatch batch = new EventBatch(this);
        events.forEach(batch::add);
        return batch.publish();
    }

    private CompletableFuture<Position> send(Event event, Map<String, String> headers) {
        try {
            return send(event, topic(event), headers);
        } catch (PublishException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    /**
     * Returns the topic of an event.
     *
     * @throws PublishException if the caller's predicate fails
     */
    String topic(Event event) {
        if (ownsTopic == NO_TOPICS_OF_NAMESPACES) {
            return Topics.EVENTS;
        }
        String namespace = event.puri().namespace();
        try {
            return Topics.eventsTopicOf(namespace, ownsTopic.test(namespace));
        } catch (RuntimeException e) {
            String detail = "failed to determine whether the namespace " + namespace + " has its own topic: " + e;
            throw failure(event, "the topic of " + namespace, new InvalidTopicException(detail, e));
        }
    }

    PublishException failure(Event event, String topic, Throwable error) {
        boolean isCausedByClose =
                isClosed && (error.getClass() == KafkaException.class || error instanceof IllegalStateException);
        Throwable cause = isCausedByClose ? new IllegalStateException(CLOSED, error) : error;
        return new PublishException(event, topic, bootstrapServers, cause);
    }

    /**
     * Sends an event. The future completes within {@code resultTimeout}, unless callbacks of other events block, and
     * fails only with a {@link PublishException}.
     */
    CompletableFuture<Position> send(Event event, String topic, Map<String, String> headers) {
        if (isClosed) {
            return CompletableFuture.failedFuture(failure(event, topic, new IllegalStateException(CLOSED)));
        }
        ProducerRecord<byte[], Object> record =
                new ProducerRecord<>(topic, event.puri().toBytes(), toValue.apply(event));
        headers.forEach((name, value) -> record.headers().add(name, value.getBytes(StandardCharsets.UTF_8)));
        InFlightEvents.InFlightEvent result = inFlight.new InFlightEvent(event, topic);
        try {
            var unused = producer.send(record, result);
            result.accepted();
        } catch (InterruptException e) {
            throw e;
        } catch (RuntimeException e) {
            // The serializer failed, or the producer is closed or failed. All failures are reported by the result.
            result.fail(e);
        }
        return result;
    }

    /**
     * Returns the registry's decision on a published event. Requests it from a resolver ({@value #RESOLVER_URL}), which
     * responds when its table has the event. No thread waits. At most 256 such requests run concurrently; further
     * requests are queued.
     *
     * @param puri the event's pURI
     * @param token the position that {@link #publish} returned
     * @param wait maximum time to wait. A request waits for at most 30 s, so a longer wait takes several requests. A
     *     resolver with a shorter {@code PURI_MAX_WAIT} refuses such a request. For these resolvers open the publisher
     *     with a {@link ResolverClient} that has their {@code maxWait}
     * @return the outcome. Fails with an {@link java.io.IOException} if the resolver is unreachable, does not respond
     *     in time, or this publisher is closed. Fails with an {@link IllegalStateException} if the resolver responds
     *     with an error, for example because its table is not complete, or if 20,000 references are already pending
     * @throws IllegalStateException if no resolver is configured
     */
    public CompletionStage<PublishOutcome> await(Puri puri, Position token, Duration wait) {
        if (outcomes == null) {
            throw new IllegalStateException(
                    "no resolver is configured: set " + RESOLVER_URL + ", or open the publisher with a resolver");
        }
        return outcomes.await(puri, token, wait);
    }

    /**
     * Does {@link #await} and blocks until the outcome is known. Must not be called in a callback of this publisher's
     * stages.
     *
     * @throws IOException if the stage of {@link #await} fails with an IOException
     * @throws IllegalStateException if that stage fails with an IllegalStateException, or no resolver is configured
     * @throws InterruptException if the thread is interrupted
     */
    public PublishOutcome awaitSync(Puri puri, Position token, Duration wait) throws IOException {
        try {
            return await(puri, token, wait).toCompletableFuture().get();
        } catch (ExecutionException e) {
            // The cause was thrown on another thread; the new exception has the caller's stack trace.
            Throwable cause = e.getCause() == null ? e : e.getCause();
            if (cause instanceof IOException) {
                throw new IOException(cause.getMessage(), cause);
            }
            throw new IllegalStateException(cause.getMessage(), cause);
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    /**
     * Sends lingering events at once. Then waits until all events that were published so far are acknowledged or
     * failed, and the callbacks of their stages have run. Waits for at most {@code delivery.timeout.ms} plus 1.5
     * seconds.
     *
     * @throws IllegalStateException if a callback of this publisher's stages calls this method, which would wait for
     *     that callback
     * @throws TimeoutException if a callback still runs after this time
     * @throws InterruptException if the thread is interrupted
     */
    public void flush() {
        if (inFlight.isRunningCallbacks()) {
            throw new IllegalStateException(
                    "a callback of this publisher's stages must not flush it: the flush would wait for that callback");
        }
        List<InFlightEvents.InFlightEvent> published = inFlight.unfinished();
        if (published.isEmpty()) {
            return;
        }
        flushProducer();
        Duration limit = inFlight.timeout().plus(CALLBACK_GRACE);
        try {
            // Each event ends at its timeout, unless callbacks block the threads that run them.
            if (!InFlightEvents.await(published, limit)) {
                throw new TimeoutException(
                        "a callback of this publisher's stages still runs, " + limit + " after the flush began");
            }
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    /**
     * Flushes the producer on a separate thread, because the flush of a producer that cannot get a producer id does not
     * return. One thread is enough: it flushes again if another flush was requested in between.
     */
    private void flushProducer() {
        if (flushes.getAndIncrement() > 0) {
            return;
        }
        Thread thread = new Thread(
                () -> {
                    int requestedBefore;
                    do {
                        requestedBefore = flushes.get();
                        try {
                            producer.flush();
                        } catch (RuntimeException | Error e) {
                            // The producer was closed, or it failed. The results of its events report this.
                        }
                    } while (!flushes.compareAndSet(requestedBefore, 0));
                },
                "puri-publisher-flush");
        thread.setDaemon(true);
        thread.start();
    }

    /** Returns Kafka's metrics of the producer. The values of the metrics are updated. */
    public Map<MetricName, ? extends Metric> metrics() {
        return producer.metrics();
    }

    /** Closes the publisher; waits for acknowledgements for at most 35 s. */
    @Override
    public void close() {
        close(CLOSE_TIMEOUT);
    }

    /**
     * Closes the publisher. Refuses further events, fails the stages of {@link #await}, and waits for the
     * acknowledgements of the events in flight. Fails the events that are not acknowledged within the timeout. Does not
     * close a resolver that the caller opened.
     *
     * @param timeout maximum time to wait for acknowledgements
     * @throws InterruptException if the thread is interrupted
     */
    public void close(Duration timeout) {
        isClosed = true;
        try {
            if (outcomes != null) {
                outcomes.close();
            }
        } finally {
            producer.close(timeout);
        }
    }
}

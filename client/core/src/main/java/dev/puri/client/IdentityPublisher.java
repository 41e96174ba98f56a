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
 * Publishes events. Thread-safe; one for the whole service.
 *
 * <p><b>Publishing again is safe</b> after any failure, of one event or of a batch's failed ones, also by another
 * process: an event has an id, and the registry counts it once. But the registry remembers only the last 8 applied
 * events of each pURI. So do not publish an event again after 8 later events of its pURI: it would be applied twice.
 *
 * <p><b>Order.</b> Events of one pURI that one thread publishes are in the log in that order. An event that failed and
 * is published again comes after those that were published meanwhile, so publish it before later events of its pURI, as
 * {@link #publishAll} does within a batch. An event with {@link Events.Draft#ifEpoch} is refused if it comes too late.
 *
 * <p><b>Bounds.</b> Events that are not yet acknowledged are in the producer's buffer, {@code buffer.memory} (32 MiB).
 * While it is full, or no broker is in reach, publishing blocks for {@code max.block.ms} at most, and then fails.
 * Nothing is dropped without an error: each event is acknowledged or ends in a {@link PublishException}.
 */
public final class IdentityPublisher implements AutoCloseable {
    /** Property: base URL of a resolver, for {@link #await}. */
    public static final String RESOLVER_URL = "puri.resolver.url";

    /** Property: bearer token for that resolver. Optional. */
    public static final String RESOLVER_TOKEN = "puri.resolver.token";

    /** Time beyond the delivery timeout in which the producer may report its own error. */
    private static final Duration DELIVERY_GRACE = Duration.ofMillis(750);

    /** Time that {@link #flush} allows for callbacks after all events have ended. */
    private static final Duration CALLBACK_GRACE = Duration.ofMillis(750);

    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(35);

    /** Every event goes to the shared topic. Compared by {@code ==}, so that no namespace must be extracted. */
    private static final Predicate<String> NO_TOPICS_OF_NAMESPACES = namespace -> false;

    static final String CLOSED = "this publisher is closed";

    private final Producer<byte[], Object> producer;
    private final String bootstrapServers;
    private final Predicate<String> ownsTopic;

    /** Returns what the serializer takes: an event, or its Avro form if the serializer is the caller's. */
    private final Function<Event, Object> toValue;

    /** Null if no resolver is set. */
    private final @Nullable AwaitedOutcomes outcomes;

    private final InFlightEvents inFlight;

    /** Flushes requested since the flushing thread started; 0 while there is no such thread. */
    private final AtomicInteger flushes = new AtomicInteger();

    private volatile boolean isClosed;

    /**
     * Publishes everything on the shared topic.
     *
     * @see #IdentityPublisher(Map, Predicate)
     */
    public IdentityPublisher(Map<?, ?> properties) {
        this(properties, NO_TOPICS_OF_NAMESPACES);
    }

    /**
     * Opens a producer; it connects in the background.
     *
     * @param properties Kafka's own, among them {@code bootstrap.servers}, and the serializer's, among
     *     them {@code schema.registry.url}. {@code value.serializer} may name another serializer, such as
     *     {@code io.confluent.kafka.serializers.KafkaAvroSerializer}; its properties are passed on unchanged.
     *     Defaults: {@code delivery.timeout.ms} 30 s, {@code max.in.flight.requests.per.connection} 1
     * @param ownsTopic whether a namespace's events go to its own topic, asked for every event; usually
     *     {@code declarations::ownsTopic}
     * @throws IllegalArgumentException if properties are invalid or would break what the registry relies
     *     on; the message lists them all
     */
    public IdentityPublisher(Map<?, ?> properties, Predicate<String> ownsTopic) {
        this(Connections.open(properties), ownsTopic);
    }

    /**
     * Opens a producer, and asks a resolver that the caller has already, so that {@link #await} opens no second client.
     *
     * @param properties as above, but those of a resolver are ignored
     * @param ownsTopic as above
     * @param resolver for {@link #await}; the caller closes it, after this publisher
     * @throws IllegalArgumentException as above
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
     * Publishes an event. Blocks while the producer's buffer is full or the topic's metadata is not yet
     * known, at most {@code max.block.ms} (30 s), and while the serializer asks the schema registry.
     *
     * @param headers the record's headers, such as {@code traceparent}; values are written in UTF-8
     * @return the event's position in the log once all in-sync replicas have it; its text is the token to resolve with.
     *     Fails with a {@link PublishException} at most a second after {@code delivery.timeout.ms}, or at once if this
     *     publisher is closed. The producer's thread or a timer's completes the stage, so callbacks must not block
     * @throws InterruptException if the thread is interrupted while it blocks
     */
    public CompletionStage<Position> publish(Event event, Map<String, String> headers) {
        return send(event, headers);
    }

    /**
     * Publishes an event and waits for its acknowledgement. Do not call it in a callback of this publisher's stages.
     *
     * @return the event's position in the log; its text is the token to resolve with
     * @throws PublishException if the event is not acknowledged
     * @throws InterruptException if the thread is interrupted while it waits; the event may arrive all the same
     */
    public Position publishSync(Event event) {
        Delivery delivery = Batch.awaitDelivery(event, send(event, Map.of()));
        if (delivery instanceof Delivery.Acknowledged acknowledged) {
            return acknowledged.token();
        }
        throw new PublishException(((Delivery.Failed) delivery).error());
    }

    /**
     * Publishes events together and waits for all of them. The failure of one event does not hide the results of the
     * others.
     *
     * <p>An event is sent when the earlier ones of its pURI in the batch are acknowledged. Once an event fails, the
     * later ones of its pURI are not sent; their {@link PublishException} says so, and its cause is that of the earlier
     * event. To repeat a batch, publish the events of its {@link Delivery.Failed} deliveries, in their order. Then each
     * identity ends in the state that its last event describes. Only a batch with at most 8 events of each pURI may be
     * repeated as a whole: the registry remembers the ids of the last 8 applied events of a pURI, and would apply an
     * older one again.
     *
     * <p>Events of different pURIs are sent together; a batch takes as many round trips as it has events of one pURI.
     *
     * <p>Once an event failed, those that would fail for the same reason ({@link PublishException#scope}) are not
     * tried. So besides the time of its acknowledgements and of the schema registry, a batch takes at most one {@code
     * delivery.timeout.ms}, and one {@code max.block.ms} per topic. Do not call it in a callback of this publisher's
     * stages.
     *
     * @param events those of one pURI in their order
     * @return the result of each event, in the order given
     * @throws InterruptException if the thread is interrupted while it waits; any of the events may arrive all the
     *     same. Publish the whole batch again if it has at most 8 events of each pURI
     */
    public List<Delivery> publishAll(List<Event> events) {
        Batch batch = new Batch(this);
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
     * Sends an event. The result completes within {@code resultTimeout}, and fails only with a {@link
     * PublishException}.
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
            // The serializer failed, or the producer is closed or failed. Callers find every failure in the result.
            result.fail(e);
        }
        return result;
    }

    /**
     * Waits for the outcome of a published event in the registry. Asks a resolver ({@value #RESOLVER_URL}) until it has
     * seen the event. Holds no thread. At most 256 such requests are at the resolver; further ones wait for their turn.
     *
     * @param puri the event's pURI
     * @param token the position that {@link #publish} returned
     * @param wait how long to wait at most. One request waits 30 s at most, and a longer wait takes several. Resolvers
     *     whose {@code PURI_MAX_WAIT} is shorter refuse it: open the publisher with a {@link ResolverClient} that has
     *     their {@code maxWait}
     * @return the outcome. Fails with an {@link java.io.IOException} if the resolver is unreachable, does not answer in
     *     time, or this publisher is closed. Fails with an {@link IllegalStateException} if the resolver answers
     *     anything else, such as that its table is not complete, or if 20,000 references are pending already
     * @throws IllegalStateException if no resolver is set
     */
    public CompletionStage<PublishOutcome> await(Puri puri, Position token, Duration wait) {
        if (outcomes == null) {
            throw new IllegalStateException("no resolver to ask: set " + RESOLVER_URL + ", or open with a resolver");
        }
        return outcomes.await(puri, token, wait);
    }

    /**
     * Waits as {@link #await} does, and blocks the calling thread. Do not call it in a callback of this publisher's
     * stages.
     *
     * @throws IOException if the stage of {@link #await} fails with one
     * @throws IllegalStateException if that stage fails with one, or no resolver is set
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
     * Sends lingering events at once, and waits until all events published so far are acknowledged or failed and the
     * callbacks of their stages have run: at most two seconds longer than {@code delivery.timeout.ms}.
     *
     * @throws IllegalStateException if a callback of this publisher's stages calls it: the flush would wait for that
     *     callback
     * @throws TimeoutException if a callback still runs at the end of that time
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
            // Each event ends by its timeout. But a callback may block the thread that runs it.
            if (!InFlightEvents.await(published, limit)) {
                throw new TimeoutException(
                        "a callback of this publisher's stages still runs, " + limit + " after the flush began");
            }
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    /**
     * Flushes the producer on a thread of its own, because a producer that cannot get a producer id does not return
     * from its flush. One such thread is enough: it flushes again if more flushes were requested meanwhile.
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
                        } catch (KafkaException | IllegalStateException e) {
                            // The producer was closed; each event fails by itself.
                        }
                    } while (!flushes.compareAndSet(requestedBefore, 0));
                },
                "puri-publisher-flush");
        thread.setDaemon(true);
        thread.start();
    }

    /** Kafka's metrics of this publisher's producer; their values are live. */
    public Map<MetricName, ? extends Metric> metrics() {
        return producer.metrics();
    }

    /** Closes within 35 s. */
    @Override
    public void close() {
        close(CLOSE_TIMEOUT);
    }

    /**
     * Takes no more events, fails the stages of {@link #await}, waits for acknowledgements of the events under way, and
     * fails those that have none by then. Does not close a resolver that the caller opened.
     *
     * @param timeout how long to wait at most for acknowledgements
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

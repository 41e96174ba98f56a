package dev.puri.client;

import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.client.resolve.ResolverOptions;
import dev.puri.client.resolve.Verdict;
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
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Publishes events. Thread-safe; one for the whole service.
 *
 * <p><b>Publishing again is safe</b> after any failure, of one event or of a batch's failed ones, also by another process: an
 * event has an id, and the registry counts it once. It remembers the last 8 applied events of each pURI, so an event that was
 * acknowledged is not published again after 8 later ones of its pURI.
 *
 * <p><b>Order.</b> Events of one pURI that one thread publishes are in the log in that order. An event that failed and is
 * published again comes after those that were published meanwhile, so publish it before later events of its pURI, as {@link
 * #publishAll} does within a batch. An event with {@link Events.Draft#ifEpoch} is refused if it comes too late.
 *
 * <p><b>Bounds.</b> Events that are not yet acknowledged are in the producer's buffer, {@code buffer.memory} (32 MiB). While
 * it is full, or no broker is in reach, publishing blocks for {@code max.block.ms} at most, and then fails. Nothing is dropped
 * without an error: each event is acknowledged or ends in a {@link PublishException}.
 */
public final class IdentityPublisher implements AutoCloseable {
    /** Property: base URL of a resolver, for {@link #await}. */
    public static final String RESOLVER_URL = "puri.resolver.url";

    /** Property: bearer token for that resolver; none without it. */
    public static final String RESOLVER_TOKEN = "puri.resolver.token";

    /** How much longer than its delivery timeout the producer has, so that its own error comes first. */
    private static final Duration DELIVERY_GRACE = Duration.ofSeconds(1);

    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(35);
    private static final String CLOSED = "this publisher is closed";

    private final Producer<byte[], Object> producer;
    private final String bootstrapServers;
    private final Duration settleWithin;
    private final Predicate<String> ownsTopic;
    private final @Nullable IdentityResolver resolver;
    private final boolean ownsResolver;

    /** Of events that the producer has taken, and neither acknowledged nor given up. */
    private final Set<CompletableFuture<Boolean>> unsettled = ConcurrentHashMap.newKeySet();

    private final Set<CompletableFuture<Fate>> awaited = ConcurrentHashMap.newKeySet();

    /** Flushes asked for since the thread that flushes began; 0 while there is none. */
    private final AtomicInteger flushes = new AtomicInteger();

    /** True on a thread that completes a result, while those who wait for it run. */
    private final ThreadLocal<Boolean> isCompleting = new ThreadLocal<>();

    private volatile boolean isClosed;

    /**
     * Publishes everything on the shared topic.
     *
     * @see #IdentityPublisher(Map, Predicate)
     */
    public IdentityPublisher(Map<?, ?> properties) {
        this(properties, namespace -> false);
    }

    /**
     * Opens a producer; it connects in the background.
     *
     * @param properties Kafka's own, among them {@code bootstrap.servers}, and the serializer's, among
     *     them {@code schema.registry.url}. {@code value.serializer} may name another serializer, such as
     *     {@code io.confluent.kafka.serializers.KafkaAvroSerializer}, which gets its keys unchanged.
     *     Delivery is given up after 30 s unless {@code delivery.timeout.ms} says otherwise, and a broker
     *     has one request at a time unless {@code max.in.flight.requests.per.connection} does
     * @param ownsTopic whether a namespace's events go to its own topic, asked for every event; usually
     *     {@code declarations::ownsTopic}
     * @throws IllegalArgumentException when a property would break what the registry relies on; all such
     *     are listed
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
        this.settleWithin = connections.settleWithin();
        this.resolver = connections.resolver();
        this.ownsResolver = connections.ownsResolver();
        this.ownsTopic = ownsTopic;
    }

    IdentityPublisher(Producer<byte[], Object> producer, Predicate<String> ownsTopic) {
        this(producer, ProducerProperties.KAFKA_DELIVERY_TIMEOUT, ownsTopic);
    }

    IdentityPublisher(Producer<byte[], Object> producer, Duration settleWithin, Predicate<String> ownsTopic) {
        this(new Connections(producer, "localhost:9092", settleWithin, null, false), ownsTopic);
    }

    IdentityPublisher(Producer<byte[], Object> producer, IdentityResolver resolver) {
        this(
                new Connections(producer, "localhost:9092", ProducerProperties.KAFKA_DELIVERY_TIMEOUT, resolver, false),
                namespace -> false);
    }

    /** What a publisher is connected to. */
    private record Connections(
            Producer<byte[], Object> producer,
            String bootstrapServers,
            Duration settleWithin,
            @Nullable IdentityResolver resolver,
            boolean ownsResolver) {
        static Connections open(Map<?, ?> given) {
            Map<String, Object> properties = ProducerProperties.of(given);
            // Before the producer, which must be closed again if this fails.
            ResolverOptions options = ProducerProperties.resolver(given);
            Producer<byte[], Object> producer = new KafkaProducer<>(properties);
            return of(producer, properties, options == null ? null : ResolverClient.open(options), true);
        }

        static Connections open(Map<?, ?> given, IdentityResolver resolver) {
            Map<String, Object> properties = ProducerProperties.of(given);
            return of(new KafkaProducer<>(properties), properties, resolver, false);
        }

        private static Connections of(
                Producer<byte[], Object> producer,
                Map<String, Object> properties,
                @Nullable IdentityResolver resolver,
                boolean ownsResolver) {
            String servers = String.valueOf(properties.get(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG));
            Duration settleWithin =
                    ProducerProperties.deliveryTimeout(properties).plus(DELIVERY_GRACE);
            return new Connections(producer, servers, settleWithin, resolver, ownsResolver);
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
     * @param headers of its record, such as {@code traceparent}; values are written in UTF-8
     * @return its place in the log once all in-sync replicas have it, whose text is the token to resolve
     *     with; or a {@link PublishException}, at the latest a second after {@code delivery.timeout.ms}, at once when this
     *     publisher is closed. Completed by the producer's thread or a timer's, neither of which must be held
     * @throws InterruptException when the thread is interrupted while it waits
     */
    public CompletionStage<Position> publish(Event event, Map<String, String> headers) {
        return send(event, headers).minimalCompletionStage();
    }

    /**
     * Publishes an event and waits for its acknowledgement. Do not call it in a stage of this publisher.
     *
     * @return its place in the log, whose text is the token to resolve with
     * @throws PublishException when it is not acknowledged
     * @throws InterruptException when the thread is interrupted while it waits; the event may arrive all the same
     */
    public Position publishSync(Event event) {
        Delivery delivery = Batch.delivery(event, send(event, Map.of()));
        if (delivery instanceof Delivery.Acknowledged acknowledged) {
            return acknowledged.token();
        }
        throw new PublishException(((Delivery.Failed) delivery).error());
    }

    /**
     * Publishes events together and waits for all of them. The failure of one event does not hide what became of the others.
     *
     * <p>An event is sent when the earlier ones of its pURI in the batch are acknowledged. Once an event fails, the later ones of
     * its pURI are not sent; their {@link PublishException} says so, and its cause is that of the earlier event. To
     * repeat a batch, publish the events of its {@link Delivery.Failed} deliveries, in their order: it ends in the state that
     * its last events describe. Only a batch with at most 8 events of each pURI may be repeated as a whole: the registry
     * remembers the ids of the last 8 applied events of a pURI, and would apply an older one again.
     *
     * <p>Events of different pURIs are sent together; a batch takes as many round trips as it has events of one pURI.
     *
     * <p>Once an event failed, those that would fail for the same reason ({@link PublishException#scope}) are not tried. So a
     * batch takes {@code max.block.ms} for each topic and once {@code delivery.timeout.ms} at most beyond what its
     * acknowledgements take, apart from the time in which the serializer asks the schema registry. Do not call it in a stage
     * of this publisher.
     *
     * @param events those of one pURI in their order
     * @return what has become of each event, in the order given
     * @throws InterruptException when the thread is interrupted while it waits; any of the events may arrive all the same.
     *     Publish the whole batch again if it has at most 8 events of each pURI
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
     * The topic of an event.
     *
     * @throws PublishException when the caller's predicate fails
     */
    String topic(Event event) {
        String namespace = event.puri().namespace();
        try {
            return Topics.eventsOf(namespace, ownsTopic.test(namespace));
        } catch (RuntimeException e) {
            String detail = "nobody could tell whether the namespace " + namespace + " owns its topic: " + e;
            throw failure(event, "the topic of " + namespace, new InvalidTopicException(detail, e));
        }
    }

    PublishException failure(Event event, String topic, Throwable error) {
        boolean isOfClosing =
                isClosed && (error.getClass() == KafkaException.class || error instanceof IllegalStateException);
        Throwable cause = isOfClosing ? new IllegalStateException(CLOSED, error) : error;
        return new PublishException(event, topic, bootstrapServers, cause);
    }

    /** Sends an event. The result fails by a {@link PublishException} alone, and is settled within a bound. */
    CompletableFuture<Position> send(Event event, String topic, Map<String, String> headers) {
        if (isClosed) {
            return CompletableFuture.failedFuture(failure(event, topic, new IllegalStateException(CLOSED)));
        }
        ProducerRecord<byte[], Object> record =
                new ProducerRecord<>(topic, event.puri().toBytes(), EventAvro.toAvro(event));
        headers.forEach((name, value) -> record.headers().add(name, value.getBytes(StandardCharsets.UTF_8)));
        CompletableFuture<Position> result = new CompletableFuture<>();
        // Complete when all who wait for the result have run, as flush promises.
        CompletableFuture<Boolean> reported = new CompletableFuture<>();
        try {
            var unused = producer.send(
                    record,
                    (metadata, error) -> report(
                            reported,
                            () -> error == null
                                    ? result.complete(
                                            new Position(metadata.topic(), metadata.partition(), metadata.offset()))
                                    : result.completeExceptionally(failure(event, topic, error))));
            failUnlessSettled(result, reported, event, topic);
        } catch (InterruptException e) {
            throw e;
        } catch (RuntimeException e) {
            // Errors of the serializer and of a closed or failed producer are thrown; callers get all in the result.
            result.completeExceptionally(failure(event, topic, e));
        }
        return result;
    }

    /** Completes a result, which runs those who wait for it; false if it was complete. */
    private void report(CompletableFuture<Boolean> reported, BooleanSupplier completing) {
        boolean wasCompleting = Boolean.TRUE.equals(isCompleting.get());
        isCompleting.set(true);
        try {
            if (completing.getAsBoolean()) {
                reported.complete(true);
            }
        } finally {
            if (!wasCompleting) {
                isCompleting.remove();
            }
        }
    }

    /**
     * Fails the result unless the producer acknowledges the event or gives it up. A producer that has no producer id yet gives
     * nothing up: while it asks a broker that is away for the id, no batch expires, whatever its delivery timeout.
     */
    private void failUnlessSettled(
            CompletableFuture<Position> result, CompletableFuture<Boolean> reported, Event event, String topic) {
        CompletableFuture<?> settled =
                new CompletableFuture<>().orTimeout(settleWithin.toMillis(), TimeUnit.MILLISECONDS);
        var unusedFailure = settled.whenComplete((nothing, timeout) -> {
            if (timeout != null) {
                String detail = "no answer for " + settleWithin.toMillis() + " ms";
                report(
                        reported,
                        () -> result.completeExceptionally(failure(event, topic, new TimeoutException(detail))));
            }
        });
        var unusedCancel = result.whenComplete((position, error) -> settled.complete(null));
        unsettled.add(reported);
        var unusedRemoval = reported.whenComplete((done, error) -> unsettled.remove(reported));
    }

    /**
     * Waits for what becomes of a published event, by asking a resolver ({@value #RESOLVER_URL}) until it
     * knows. Holds no thread. 256 such questions are with the resolver at a time; more of them wait for their turn.
     *
     * @param puri whose event it is
     * @param token that {@link #publish} gave
     * @param wait how long at most; a resolver that accepts no wait of 30 s in a request ({@code PURI_MAX_WAIT}) refuses a longer one
     * @return its fate; or an {@link java.io.IOException} when the resolver is out of reach, sends no end of an
     *     answer, or this publisher is closed; or an
     *     {@link IllegalStateException} when it answers anything else, such as that its table is not complete, or when
     *     20,000 such questions are open already
     * @throws IllegalStateException when no resolver is set
     */
    public CompletionStage<Fate> await(Puri puri, Position token, Duration wait) {
        if (resolver == null) {
            throw new IllegalStateException("nobody to ask: set " + RESOLVER_URL + ", or open with a resolver");
        }
        CompletableFuture<Fate> fate = new CompletableFuture<>();
        awaited.add(fate);
        var unusedRemoval = fate.whenComplete((known, error) -> awaited.remove(fate));
        if (isClosed) {
            fate.completeExceptionally(new IOException(CLOSED));
            return fate.minimalCompletionStage();
        }
        CompletionStage<Verdict> answer;
        try {
            answer = resolver.resolveAsync(Ref.of(puri).at(token), wait);
        } catch (RuntimeException e) {
            // Of a resolver that the caller opened, which may throw anything.
            fate.completeExceptionally(FateReader.failure(e));
            return fate.minimalCompletionStage();
        }
        var unused = answer.whenComplete((verdict, error) -> {
            if (error != null) {
                fate.completeExceptionally(FateReader.failure(error));
            } else if (verdict instanceof Verdict.Malformed malformed) {
                fate.completeExceptionally(new IllegalStateException(malformed.detail()));
            } else {
                fate.complete(FateReader.fate(verdict));
            }
        });
        return fate.minimalCompletionStage();
    }

    /**
     * Waits as {@link #await} does, and holds the calling thread. Do not call it in a stage of this publisher.
     *
     * @throws IOException as that of {@link #await}
     * @throws IllegalStateException likewise, and when no resolver is set
     * @throws InterruptException when the thread is interrupted
     */
    public Fate awaitSync(Puri puri, Position token, Duration wait) throws IOException {
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
     * Sends what lingers, and waits until everything published so far is acknowledged or given up, and those who wait for it
     * have run: at most two seconds longer than {@code delivery.timeout.ms}.
     *
     * @throws IllegalStateException when it is called in a stage of this publisher by the thread that completes it, which would
     *     wait for itself
     * @throws TimeoutException when one who waits for an event still runs at the end of that time
     * @throws InterruptException when the thread is interrupted
     */
    public void flush() {
        if (Boolean.TRUE.equals(isCompleting.get())) {
            throw new IllegalStateException("a stage of this publisher must not flush it: it would wait for itself");
        }
        List<CompletableFuture<Boolean>> published = List.copyOf(unsettled);
        if (published.isEmpty()) {
            return;
        }
        sendWhatLingers();
        try {
            // Each has a timer, and none fails; but one who waits for an event may hold the thread that reports it.
            CompletableFuture.allOf(published.toArray(CompletableFuture[]::new))
                    .get(settleWithin.plus(DELIVERY_GRACE).toMillis(), TimeUnit.MILLISECONDS);
        } catch (java.util.concurrent.TimeoutException e) {
            throw new TimeoutException(
                    "a stage of this publisher still runs, " + settleWithin.plus(DELIVERY_GRACE)
                            + " after the flush began",
                    e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("an event is reported, however it ends", e);
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    /**
     * By a thread of its own: a producer that has no producer id yet, and no broker to ask for it, does not return from its
     * flush. One thread is enough, for nothing lingers while that goes on; it begins again for what was published meanwhile.
     */
    private void sendWhatLingers() {
        if (flushes.getAndIncrement() > 0) {
            return;
        }
        Thread thread = new Thread(
                () -> {
                    int begun;
                    do {
                        begun = flushes.get();
                        try {
                            producer.flush();
                        } catch (KafkaException | IllegalStateException e) {
                            // Of a producer that was closed; each event fails by itself.
                        }
                    } while (!flushes.compareAndSet(begun, 0));
                },
                "puri-publisher-flush");
        thread.setDaemon(true);
        thread.start();
    }

    /** Closes within 35 s. */
    @Override
    public void close() {
        close(CLOSE_TIMEOUT);
    }

    /**
     * Takes no event any more, fails at once what {@link #await} waits for, waits for the acknowledgement of events under way,
     * and fails those that have none by then. Closes no resolver that the caller opened.
     *
     * @param timeout how long at most
     * @throws InterruptException when the thread is interrupted
     */
    public void close(Duration timeout) {
        isClosed = true;
        awaited.forEach(fate -> fate.completeExceptionally(new IOException(CLOSED)));
        try {
            if (ownsResolver && resolver != null) {
                resolver.close();
            }
        } finally {
            producer.close(timeout);
        }
    }
}

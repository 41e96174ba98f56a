package dev.puri.client;

import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.client.resolve.ResolverException;
import dev.puri.client.resolve.ResolverOptions;
import dev.puri.client.resolve.Verdict;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.EventAvro;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * Publishes events. Thread-safe; one for the whole service.
 *
 * <p>Events of one pURI that are published by one thread stand in the log in that order. An event that
 * is published twice, with one event id, counts once, so after any failure publishing again is the
 * remedy.
 */
public final class IdentityPublisher implements AutoCloseable {
    private static final String AVRO_SERIALIZER = "dev.puri.schemas.serde.AvroSerializer";

    /** Confluent's key: without it its serializer registers a version of its own for our generated classes. */
    static final String REMOVE_JAVA_PROPERTIES = "avro.remove.java.properties";

    /** How much longer than its delivery timeout the producer has, so that its own error comes first. */
    private static final Duration DELIVERY_GRACE = Duration.ofSeconds(1);

    /** Kafka's default of {@code delivery.timeout.ms}. */
    private static final Duration KAFKA_DELIVERY_TIMEOUT = Duration.ofSeconds(120);

    /** Beyond the wait, for the way there and back. */
    private static final Duration RESOLVER_PATIENCE = Duration.ofSeconds(10);

    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(35);

    /** Whoever sets one of these has thought about how long to wait, and ours might not fit to it. */
    private static final List<String> TIMEOUTS = List.of(
            ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
            ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG,
            ProducerConfig.LINGER_MS_CONFIG);

    private final Producer<byte[], Object> producer;
    private final String bootstrapServers;
    private final Duration settleWithin;
    private final Predicate<String> ownsTopic;
    private final @Nullable ResolverClient resolver;

    /** Property: base URL of a resolver, for {@link #await}. */
    public static final String RESOLVER_URL = "puri.resolver.url";

    /** Property: bearer token for that resolver; none without it. */
    public static final String RESOLVER_TOKEN = "puri.resolver.token";

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
        this(producerProperties(properties), ownsTopic, resolver(properties));
    }

    private IdentityPublisher(
            Map<String, Object> properties, Predicate<String> ownsTopic, @Nullable ResolverClient resolver) {
        this(
                new KafkaProducer<>(properties),
                String.valueOf(properties.get(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG)),
                deliveryTimeout(properties).plus(DELIVERY_GRACE),
                ownsTopic,
                resolver);
    }

    IdentityPublisher(Producer<byte[], Object> producer, Predicate<String> ownsTopic) {
        this(producer, KAFKA_DELIVERY_TIMEOUT, ownsTopic);
    }

    IdentityPublisher(Producer<byte[], Object> producer, Duration settleWithin, Predicate<String> ownsTopic) {
        this(producer, "localhost:9092", settleWithin, ownsTopic, null);
    }

    private IdentityPublisher(
            Producer<byte[], Object> producer,
            String bootstrapServers,
            Duration settleWithin,
            Predicate<String> ownsTopic,
            @Nullable ResolverClient resolver) {
        this.producer = producer;
        this.bootstrapServers = bootstrapServers;
        this.settleWithin = settleWithin;
        this.ownsTopic = ownsTopic;
        this.resolver = resolver;
    }

    /** Of properties that Kafka has accepted. */
    private static Duration deliveryTimeout(Map<String, Object> properties) {
        Object millis = properties.get(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG);
        return millis == null
                ? KAFKA_DELIVERY_TIMEOUT
                : Duration.ofMillis(Long.parseLong(String.valueOf(millis).trim()));
    }

    private static @Nullable ResolverClient resolver(Map<?, ?> properties) {
        Object url = properties.get(RESOLVER_URL);
        Object token = properties.get(RESOLVER_TOKEN);
        return url == null
                ? null
                : ResolverClient.open(ResolverOptions.at(String.valueOf(url))
                        .token(token == null ? null : String.valueOf(token))
                        .deadline(RESOLVER_PATIENCE)
                        .connectTimeout(RESOLVER_PATIENCE)
                        .build());
    }

    static Map<String, Object> producerProperties(Map<?, ?> given) {
        Map<String, Object> properties = new HashMap<>();
        given.forEach((key, value) -> properties.put(String.valueOf(key), value));
        properties.remove(RESOLVER_URL);
        properties.remove(RESOLVER_TOKEN);

        List<String> mistakes = new ArrayList<>();
        require(properties, ProducerConfig.ACKS_CONFIG, List.of("all", "-1"), mistakes);
        require(properties, ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, List.of("true"), mistakes);
        require(properties, ProducerConfig.PARTITIONER_IGNORE_KEYS_CONFIG, List.of("false"), mistakes);
        forbid(
                properties,
                ProducerConfig.PARTITIONER_CLASS_CONFIG,
                "a pURI's partition is found by Kafka's default",
                mistakes);
        forbid(properties, ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, "the key is the canonical pURI", mistakes);
        forbid(
                properties,
                ProducerConfig.TRANSACTIONAL_ID_CONFIG,
                "the publisher opens no transactions; event ids make retries harmless",
                mistakes);
        if (!mistakes.isEmpty()) {
            throw new IllegalArgumentException(
                    "properties that a publisher cannot take:\n  " + String.join("\n  ", mistakes));
        }

        properties.put(ProducerConfig.ACKS_CONFIG, "all");
        properties.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "true");
        properties.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class.getName());
        properties.putIfAbsent(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, AVRO_SERIALIZER);
        properties.putIfAbsent(REMOVE_JAVA_PROPERTIES, "true");
        if (TIMEOUTS.stream().noneMatch(properties::containsKey)) {
            properties.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, "30000");
            properties.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, "10000");
        }
        properties.putIfAbsent(ProducerConfig.MAX_BLOCK_MS_CONFIG, "30000");
        // With several, a partition whose leader is just coming up may refuse the first and take the second;
        // the first is then out of sequence for ever and expires (KAFKA-15591).
        properties.putIfAbsent(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, "1");
        return properties;
    }

    private static void require(
            Map<String, Object> properties, String key, List<String> allowed, List<String> mistakes) {
        Object value = properties.get(key);
        if (value != null && !allowed.contains(String.valueOf(value).trim())) {
            mistakes.add(key + "=" + value + ": must be " + allowed.get(0) + ", or absent");
        }
    }

    private static void forbid(Map<String, Object> properties, String key, String why, List<String> mistakes) {
        if (properties.containsKey(key)) {
            mistakes.add(key + "=" + properties.get(key) + ": must be absent; " + why);
        }
    }

    /**
     * Publishes an event. Blocks while the producer's buffer is full or the topic's metadata is not yet
     * known, at most {@code max.block.ms} (30 s), and while the serializer asks the schema registry.
     *
     * @return its place in the log once all in-sync replicas have it, whose text is the token to resolve
     *     with; or a {@link PublishException}, at the latest a second after {@code delivery.timeout.ms}. Completed by
     *     the producer's thread or a timer's, neither of which must be held
     * @throws InterruptException when the thread is interrupted while it waits
     */
    public CompletionStage<Position> publish(Event event) {
        String topic = ownsTopic.test(event.puri().namespace())
                ? Topics.eventsOf(event.puri().namespace())
                : Topics.EVENTS;
        CompletableFuture<Position> result = new CompletableFuture<>();
        CompletableFuture<?> settled = failUnlessSettled(result, event, topic);
        try {
            var unused = producer.send(
                    new ProducerRecord<>(topic, event.puri().toBytes(), EventAvro.toAvro(event)), (metadata, error) -> {
                        settled.complete(null);
                        if (error == null) {
                            result.complete(new Position(metadata.topic(), metadata.partition(), metadata.offset()));
                        } else {
                            result.completeExceptionally(new PublishException(event, topic, error));
                        }
                    });
        } catch (InterruptException e) {
            settled.complete(null);
            throw e;
        } catch (KafkaException e) {
            settled.complete(null);
            // What a serializer throws comes out of send; the caller gets all failures through one door.
            result.completeExceptionally(new PublishException(event, topic, e));
        }
        return result.minimalCompletionStage();
    }

    /**
     * Fails the result unless the producer acknowledges the event or gives it up. A producer that has no producer id yet gives
     * nothing up: while it asks a broker that is away for the id, no batch expires, whatever its delivery timeout.
     *
     * @return to be completed when the producer has settled the event, which cancels the timer
     */
    private CompletableFuture<?> failUnlessSettled(CompletableFuture<Position> result, Event event, String topic) {
        CompletableFuture<?> settled =
                new CompletableFuture<>().orTimeout(settleWithin.toMillis(), TimeUnit.MILLISECONDS);
        var unused = settled.whenComplete((nothing, timeout) -> {
            if (timeout != null) {
                String detail =
                        "no broker of " + bootstrapServers + " has answered for " + settleWithin.toMillis() + " ms";
                result.completeExceptionally(new PublishException(event, topic, new TimeoutException(detail)));
            }
        });
        return settled;
    }

    /**
     * Waits for what becomes of a published event, by asking a resolver ({@value #RESOLVER_URL}) until it
     * knows. Holds no thread.
     *
     * @param puri whose event it is
     * @param token that {@link #publish} gave
     * @param wait how long at most; the resolver has a bound of its own, 30 s unless set otherwise
     * @return its fate; or an {@link java.io.IOException} when the resolver is out of reach, sends no end of an
     *     answer, or this publisher is closed; or an
     *     {@link IllegalStateException} when it answers anything else, such as that its table is not complete, or when
     *     20,000 such questions are open already
     * @throws IllegalStateException when no resolver is set
     */
    public CompletionStage<Fate> await(Puri puri, Position token, Duration wait) {
        if (resolver == null) {
            throw new IllegalStateException("nobody to ask: set " + RESOLVER_URL);
        }
        CompletableFuture<Fate> fate = new CompletableFuture<>();
        var unused = resolver.resolveAsync(Ref.of(puri).at(token), wait).whenComplete((verdict, error) -> {
            if (error != null) {
                fate.completeExceptionally(failure(error));
            } else if (verdict instanceof Verdict.Malformed malformed) {
                fate.completeExceptionally(new IllegalStateException(malformed.detail()));
            } else {
                fate.complete(fate(verdict));
            }
        });
        return fate.minimalCompletionStage();
    }

    /** Not there any more, or gone on as another, is an answer that knows of the event too. */
    private static Fate fate(Verdict verdict) {
        if (verdict instanceof Verdict.Refused refused) {
            return new Fate.Refused(
                    refused.reason(),
                    refused.detail(),
                    refused.holderOwner() == null ? null : refused.holderOwner().text(),
                    refused.holderShard() == null ? null : refused.holderShard().text());
        }
        return verdict instanceof Verdict.NotCaughtUp ? new Fate.NotCaughtUp() : new Fate.Settled();
    }

    private static Throwable failure(Throwable error) {
        // Stages wrap what they pass on.
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        if (!(cause instanceof ResolverException resolving)) {
            return cause;
        }
        return switch (resolving.kind()) {
            case UNREACHABLE, DEADLINE, CLOSED -> new IOException(cause.getMessage(), cause);
            case FULL, UNAVAILABLE, REJECTED, INTERRUPTED -> new IllegalStateException(cause.getMessage(), cause);
        };
    }

    /**
     * Waits until everything published so far is acknowledged or given up.
     *
     * @throws InterruptException when the thread is interrupted
     */
    public void flush() {
        producer.flush();
    }

    /** Delivers what is under way, for at most 35 s, and lets go of the rest. What {@link #await} waits for fails. */
    @Override
    public void close() {
        try {
            producer.close(CLOSE_TIMEOUT);
        } finally {
            if (resolver != null) {
                resolver.close();
            }
        }
    }
}

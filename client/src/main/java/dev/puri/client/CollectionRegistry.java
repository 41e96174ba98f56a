package dev.puri.client;

import dev.puri.schemas.avro.CollectionsEntry;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.collection.DeclarationAvro;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.collection.Declared;
import dev.puri.schemas.collection.LiveDeclarations;
import dev.puri.schemas.log.Topics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RecordDeserializationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TransactionAbortableException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * The declared collections, read from and written to {@code puri.collections.v1}. Thread-safe; holds
 * no connection between calls.
 *
 * <p>A prefix must never be given twice, and the topic itself refuses nothing. So every apply takes
 * one transactional id, which only one producer in the cluster can hold: beginning fences whoever
 * holds it, aborts what they left open, and returns only when what they committed can be read. What is
 * then read to the end is all there is, and if somebody else begins before the commit, the commit
 * fails instead of the promise.
 */
public final class CollectionRegistry {
    /** The transactional id that an apply holds; its principal needs WRITE and DESCRIBE on it. */
    public static final String TRANSACTIONAL_ID = "puri-collections";

    private static final String AVRO_SERIALIZER = "dev.puri.schemas.serde.AvroSerializer";
    private static final String AVRO_DESERIALIZER = "dev.puri.schemas.serde.AvroDeserializer";
    private static final int ATTEMPTS = 10;
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(500);
    private static final Duration POLL = Duration.ofMillis(100);

    private final Map<String, Object> properties;
    private final String topic;
    private final Duration timeout;

    /**
     * Names the cluster; nothing is opened yet.
     *
     * @param properties Kafka's own, among them {@code bootstrap.servers}, and the serdes', among them
     *     {@code schema.registry.url}; {@code value.serializer} and {@code value.deserializer} may name
     *     others than ours
     * @param timeout bounds {@link #read}, and each attempt of {@link #apply}
     */
    public CollectionRegistry(Map<?, ?> properties, Duration timeout) {
        this(properties, Topics.COLLECTIONS, timeout);
    }

    CollectionRegistry(Map<?, ?> properties, String topic, Duration timeout) {
        this.properties = new HashMap<>();
        properties.forEach((key, value) -> this.properties.put(String.valueOf(key), value));
        this.topic = topic;
        this.timeout = timeout;
    }

    /**
     * Everything that is declared now.
     *
     * @throws CollectionRegistryException when the topic is missing, cannot be read to its end in time,
     *     or holds what this version cannot read
     */
    public Declarations read() {
        Deadline deadline = new Deadline(timeout);
        try (Consumer<byte[], Object> consumer = openConsumer()) {
            return readToEnd(consumer, deadline);
        } catch (KafkaException e) {
            throw unavailable("could not be read", e);
        }
    }

    /**
     * Declares all of these or, if any conflicts with what stands, none. What is not among them stays as
     * it is. Once this returns, every reader sees it.
     *
     * @return what was written, maybe nothing; or all conflicts
     * @throws CollectionRegistryException when the cluster fails, or other applies go on taking over;
     *     applying again is harmless
     */
    public Declared apply(List<? extends Declaration> wanted) {
        KafkaException last = null;
        for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
            try {
                return applyOnce(wanted);
            } catch (KafkaException e) {
                if (!isTakenOver(e)) {
                    throw unavailable("could not be written; apply again, which is harmless", e);
                }
                last = e;
                pause(attempt);
            }
        }
        throw new CollectionRegistryException(
                "another apply took over " + ATTEMPTS + " times in a row and nothing was written; apply again", last);
    }

    private Declared applyOnce(List<? extends Declaration> wanted) {
        Deadline deadline = new Deadline(timeout);
        Producer<byte[], Object> producer = openProducer();
        try (Consumer<byte[], Object> consumer = openConsumer()) {
            requireTopic(consumer, deadline);
            producer.initTransactions();
            Declared declared = readToEnd(consumer, deadline).declare(wanted);
            if (declared instanceof Declared.Changes changes
                    && !changes.writes().isEmpty()) {
                awaitVisible(consumer, write(producer, changes.writes(), deadline), deadline);
            }
            return declared;
        } finally {
            // Everything sent is settled by now, or fenced; there is nothing to wait for.
            producer.close(Duration.ZERO);
        }
    }

    /** Returns the offset after the last record written to each partition. */
    private Map<TopicPartition, Long> write(
            Producer<byte[], Object> producer, List<Declaration> declarations, Deadline deadline) {
        producer.beginTransaction();
        try {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (Declaration declaration : declarations) {
                sent.add(producer.send(new ProducerRecord<>(
                        topic,
                        declaration.key().getBytes(StandardCharsets.UTF_8),
                        DeclarationAvro.toAvro(declaration))));
            }
            producer.flush();
            Map<TopicPartition, Long> ends = new HashMap<>();
            for (Future<RecordMetadata> each : sent) {
                RecordMetadata metadata = result(each, deadline);
                ends.merge(new TopicPartition(topic, metadata.partition()), metadata.offset() + 1, Math::max);
            }
            producer.commitTransaction();
            return ends;
        } catch (KafkaException e) {
            abort(producer, e);
            throw e;
        }
    }

    /** An open transaction would hold up every reader until it times out; a fenced one is closed already. */
    private static void abort(Producer<byte[], Object> producer, KafkaException because) {
        if (isTakenOver(because)) {
            return;
        }
        try {
            producer.abortTransaction();
        } catch (KafkaException | IllegalStateException e) {
            // A commit that timed out may still come true, and the client refuses to abort it: an illegal state.
            because.addSuppressed(e);
        }
    }

    /** A commit answers before its markers are written, and readers see nothing until then. */
    private void awaitVisible(Consumer<byte[], Object> consumer, Map<TopicPartition, Long> ends, Deadline deadline) {
        while (true) {
            Map<TopicPartition, Long> visible = consumer.endOffsets(ends.keySet(), deadline.left());
            if (ends.entrySet().stream().allMatch(end -> visible.getOrDefault(end.getKey(), 0L) >= end.getValue())) {
                return;
            }
            sleep(10);
        }
    }

    private Declarations readToEnd(Consumer<byte[], Object> consumer, Deadline deadline) {
        List<TopicPartition> partitions = requireTopic(consumer, deadline);
        consumer.assign(partitions);
        consumer.seekToBeginning(partitions);
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions, deadline.left());
        LiveDeclarations read = new LiveDeclarations();
        while (!reached(consumer, ends, deadline)) {
            Duration left = deadline.left();
            for (ConsumerRecord<byte[], Object> entry : consumer.poll(POLL.compareTo(left) < 0 ? POLL : left)) {
                take(entry, read);
            }
        }
        return read.snapshot();
    }

    private static boolean reached(
            Consumer<byte[], Object> consumer, Map<TopicPartition, Long> ends, Deadline deadline) {
        return ends.entrySet().stream()
                .allMatch(end ->
                        end.getValue() == 0 || consumer.position(end.getKey(), deadline.left()) >= end.getValue());
    }

    private static void take(ConsumerRecord<byte[], Object> entry, LiveDeclarations read) {
        String key = entry.key() == null ? "" : new String(entry.key(), StandardCharsets.UTF_8);
        @Nullable Object value = entry.value();
        if (value == null) {
            read.remove(key);
            return;
        }
        try {
            Declaration declaration = DeclarationAvro.fromAvro((CollectionsEntry) value);
            if (!declaration.key().equals(key)) {
                throw new IllegalArgumentException("its key is \"" + key + "\" and it declares " + declaration.key());
            }
            read.put(declaration);
        } catch (IllegalArgumentException | ClassCastException e) {
            // Passing over it could give its prefix away a second time.
            throw new CollectionRegistryException(
                    entry.topic() + "-" + entry.partition() + " holds at offset " + entry.offset()
                            + " what this version cannot read: " + e.getMessage(),
                    e);
        }
    }

    private List<TopicPartition> requireTopic(Consumer<byte[], Object> consumer, Deadline deadline) {
        List<TopicPartition> partitions = consumer.partitionsFor(topic, deadline.left()).stream()
                .map(info -> new TopicPartition(topic, info.partition()))
                .toList();
        if (partitions.isEmpty()) {
            throw new CollectionRegistryException(
                    "the topic " + topic + " does not exist on " + bootstrapServers()
                            + "; make it with: puri topics create",
                    null);
        }
        return partitions;
    }

    private Consumer<byte[], Object> openConsumer() {
        Map<String, Object> config = new HashMap<>(properties);
        config.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class.getName());
        config.putIfAbsent(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, AVRO_DESERIALIZER);
        // Confluent's key: without it its deserializer hands out generic records.
        config.put("specific.avro.reader", "true");
        config.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        config.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        config.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        config.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        // A fetch that waits at the end would hold up the next question on its connection.
        config.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, "10");
        config.keySet().removeAll(List.of(ConsumerConfig.GROUP_ID_CONFIG, ConsumerConfig.GROUP_INSTANCE_ID_CONFIG));
        return new KafkaConsumer<>(config);
    }

    private Producer<byte[], Object> openProducer() {
        String millis = String.valueOf(timeout.toMillis());
        Map<String, Object> config = new HashMap<>(properties);
        config.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class.getName());
        config.putIfAbsent(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, AVRO_SERIALIZER);
        config.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, TRANSACTIONAL_ID);
        config.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "true");
        config.put(ProducerConfig.ACKS_CONFIG, "all");
        config.put(ProducerConfig.LINGER_MS_CONFIG, "0");
        config.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, millis);
        config.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, millis);
        config.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, millis);
        config.put(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, millis);
        return new KafkaProducer<>(config);
    }

    private static RecordMetadata result(Future<RecordMetadata> sent, Deadline deadline) {
        try {
            return sent.get(deadline.left().toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof KafkaException cause ? cause : new KafkaException(e.getCause());
        } catch (java.util.concurrent.TimeoutException e) {
            throw new TimeoutException("a record was not acknowledged in time", e);
        } catch (InterruptedException e) {
            throw new org.apache.kafka.common.errors.InterruptException(e);
        }
    }

    private static boolean isTakenOver(Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof ProducerFencedException
                    || cause instanceof InvalidProducerEpochException
                    || cause instanceof TransactionAbortableException) {
                return true;
            }
        }
        return false;
    }

    private CollectionRegistryException unavailable(String what, KafkaException e) {
        String hint = e instanceof TransactionalIdAuthorizationException
                ? "; the principal needs WRITE on the transactional id " + TRANSACTIONAL_ID
                : "";
        // Kafka says which record it could not decode, and only its cause says why.
        String why = e instanceof RecordDeserializationException && e.getCause() != null
                ? e.getMessage() + " " + e.getCause().getMessage()
                : e.getMessage();
        return new CollectionRegistryException(
                "the topic " + topic + " on " + bootstrapServers() + " " + what + ": " + why + hint, e);
    }

    private Object bootstrapServers() {
        return properties.getOrDefault("bootstrap.servers", "(no bootstrap.servers given)");
    }

    /** Longer each time and never the same for two, so that two applies do not go on fencing one another. */
    private static void pause(int attempt) {
        long bound = Math.min(LONGEST_PAUSE.toMillis(), 50L << attempt);
        sleep(ThreadLocalRandom.current().nextLong(bound / 4, bound));
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new org.apache.kafka.common.errors.InterruptException(e);
        }
    }

    /** Running out is told as Kafka tells it, for that is how its own calls end when their share runs out. */
    private static final class Deadline {
        private final Duration timeout;
        private final long end;

        Deadline(Duration timeout) {
            this.timeout = timeout;
            this.end = System.nanoTime() + timeout.toNanos();
        }

        Duration left() {
            long left = end - System.nanoTime();
            if (left <= 0) {
                throw new TimeoutException("not done within " + timeout.toMillis() + " ms");
            }
            return Duration.ofNanos(Math.max(left, TimeUnit.MILLISECONDS.toNanos(1)));
        }
    }
}

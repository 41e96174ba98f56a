package dev.puri.client;

import dev.puri.schemas.avro.CollectionsEntry;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.collection.DeclarationAvro;
import dev.puri.schemas.collection.DeclarationResult;
import dev.puri.schemas.collection.LiveDeclarations;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.SchemaRegistryUnavailableException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
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
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RecordDeserializationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TransactionAbortableException;
import org.apache.kafka.common.errors.TransactionalIdAuthorizationException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes the declarations of collections in the topic {@code puri.collections.v1}. Thread-safe. Keeps no
 * connection open between calls.
 *
 * <p>Two collections must never get the same prefix, but the topic cannot refuse a record. So every apply uses the same
 * transactional id, which only one producer in the cluster can hold. {@code initTransactions} fences the producer that
 * holds the id, aborts the open transaction of that producer, and returns only when the records that it committed can
 * be read. The apply then reads the whole topic, decides, and writes. If another apply begins before the commit, the
 * commit fails.
 */
public final class CollectionRegistry {
    /** Transactional id of every apply. The principal of an apply needs WRITE and DESCRIBE on this id. */
    public static final String TRANSACTIONAL_ID = "puri-collections";

    private static final String AVRO_SERIALIZER = "dev.puri.schemas.serde.AvroSerializer";
    private static final String AVRO_DESERIALIZER = "dev.puri.schemas.serde.AvroDeserializer";
    private static final int MAX_ATTEMPTS = 10;
    private static final Duration MAX_RETRY_DELAY = Duration.ofMillis(500);
    private static final Duration POLL_TIMEOUT = Duration.ofMillis(100);

    private final Map<String, Object> properties;
    private final String topic;
    private final Duration timeout;

    /**
     * Creates the registry. It opens no connection before the first call.
     *
     * @param properties properties of Kafka, including {@code bootstrap.servers}, and of the serializer and
     *     deserializer, including {@code schema.registry.url}. {@code value.serializer} and {@code value.deserializer}
     *     may name classes other than ours
     * @param timeout time limit of {@link #read}, and of the reads and writes of each attempt of {@link #apply} and
     *     {@link #repair}. Kafka's producer has the same time limit for the last call of an attempt, and once more for
     *     the abort of its transaction. So an attempt ends after three times the timeout at the latest. Only fenced
     *     attempts are repeated, at most 10 in all. The closing of Kafka's consumer may add 30 s
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
     * Reads all declarations, and lists the records that cannot be read.
     *
     * @throws CollectionRegistryException if the topic is missing, or cannot be read to its end within the timeout
     */
    public CollectionsContent read() {
        Deadline deadline = new Deadline(timeout);
        try (Consumer<byte[], Object> consumer = openConsumer()) {
            return readToEnd(consumer, deadline);
        } catch (KafkaException e) {
            throw unavailable("could not be read", e);
        }
    }

    /**
     * Writes all of these declarations or, if one of them conflicts with the existing declarations, none. Existing
     * declarations with other keys are unchanged. After this method has returned, every reader sees the new
     * declarations. While the topic has an unreadable record, a declaration with the key of that record, and any
     * declaration with a new prefix, is a conflict.
     *
     * @return the declarations that were written, perhaps none; or all conflicts
     * @throws CollectionRegistryException if the cluster fails, or if other applies fenced every attempt of this one.
     *     It is safe to apply again
     */
    public DeclarationResult apply(List<? extends Declaration> requested) {
        return readAndWrite(content -> {
            DeclarationResult planned = content.plan(requested);
            return new Decision<>(
                    planned,
                    planned instanceof DeclarationResult.Changes changes
                            ? changes.writes().stream().map(this::toRecord).toList()
                            : List.of());
        });
    }

    /**
     * Replaces each unreadable record that has a key: writes a new record with the same key, so that compaction removes
     * the unreadable record. The new record is the declaration of that key in {@code known}; or else the last readable
     * declaration of that key; or else a tombstone. After a tombstone, another collection can declare a prefix that
     * only the unreadable record contained.
     *
     * @param known declarations that replace unreadable records with the same key; other declarations are ignored
     * @return the records that were written, perhaps none
     * @throws CollectionRegistryException for the reasons of {@link #apply}, or if a declaration in {@code known}
     *     conflicts with an existing one
     */
    public List<CollectionsContent.Repair> repair(List<? extends Declaration> known) {
        return readAndWrite(content -> {
            List<CollectionsContent.Repair> repairs = content.repairs(known);
            return new Decision<>(repairs, repairs.stream().map(this::toRecord).toList());
        });
    }

    private ProducerRecord<byte[], @Nullable Object> toRecord(Declaration declaration) {
        return new ProducerRecord<byte[], @Nullable Object>(
                topic, declaration.key().getBytes(StandardCharsets.UTF_8), DeclarationAvro.toAvro(declaration));
    }

    private ProducerRecord<byte[], @Nullable Object> toRecord(CollectionsContent.Repair repair) {
        Declaration replacement = repair.replacement();
        return new ProducerRecord<byte[], @Nullable Object>(
                topic, repair.record().keyBytes(), replacement == null ? null : DeclarationAvro.toAvro(replacement));
    }

    /** A decision made after reading the topic: the result for the caller, and the records to write. */
    private record Decision<T>(T result, List<ProducerRecord<byte[], @Nullable Object>> recordsToWrite) {}

    private <T> T readAndWrite(Function<CollectionsContent, Decision<T>> decider) {
        KafkaException lastFencing = null;
        for (int attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
            try {
                return tryReadAndWrite(decider);
            } catch (KafkaException e) {
                if (!isFenced(e)) {
                    throw unavailable("could not be written; it is safe to apply again", e);
                }
                lastFencing = e;
                sleepBeforeRetry(attempt);
            }
        }
        throw new CollectionRegistryException(
                "nothing was written, because other applies fenced this one " + MAX_ATTEMPTS + " times; apply again",
                lastFencing);
    }

    private <T> T tryReadAndWrite(Function<CollectionsContent, Decision<T>> decider) {
        Deadline deadline = new Deadline(timeout);
        Producer<byte[], @Nullable Object> producer = openProducer();
        try (Consumer<byte[], Object> consumer = openConsumer()) {
            requireTopic(consumer, deadline);
            producer.initTransactions();
            Decision<T> decision = decider.apply(readToEnd(consumer, deadline));
            if (!decision.recordsToWrite().isEmpty()) {
                awaitVisible(consumer, write(producer, decision.recordsToWrite(), deadline), deadline);
            }
            return decision.result();
        } finally {
            // All records are committed or aborted, or the producer is fenced. So close need not wait.
            producer.close(Duration.ZERO);
        }
    }

    /** Writes the records in a transaction. Returns, for each partition, the offset after the last written record. */
    Map<TopicPartition, Long> write(
            Producer<byte[], @Nullable Object> producer,
            List<ProducerRecord<byte[], @Nullable Object>> records,
            Deadline deadline) {
        producer.beginTransaction();
        try {
            List<Future<RecordMetadata>> sendFutures = new ArrayList<>();
            // They are sent at once, because linger.ms is 0.
            records.forEach(record -> sendFutures.add(producer.send(record)));
            Map<TopicPartition, Long> endOffsets = new HashMap<>();
            for (Future<RecordMetadata> future : sendFutures) {
                RecordMetadata metadata = result(future, deadline);
                endOffsets.merge(new TopicPartition(topic, metadata.partition()), metadata.offset() + 1, Math::max);
            }
            producer.commitTransaction();
            return endOffsets;
        } catch (KafkaException e) {
            abort(producer, e);
            throw e;
        }
    }

    /** Aborts the transaction unless it was closed by fencing. An open transaction blocks every reader. */
    private static void abort(Producer<byte[], @Nullable Object> producer, KafkaException failure) {
        if (isFenced(failure)) {
            return;
        }
        try {
            producer.abortTransaction();
        } catch (KafkaException | IllegalStateException e) {
            // IllegalStateException: the producer refuses to abort after a commit that timed out and may still
            // complete.
            failure.addSuppressed(e);
        }
    }

    /** Waits until readers see the records, because a commit returns before its transaction markers are written. */
    private void awaitVisible(
            Consumer<byte[], Object> consumer, Map<TopicPartition, Long> endOffsets, Deadline deadline) {
        while (true) {
            Map<TopicPartition, Long> visibleOffsets = consumer.endOffsets(endOffsets.keySet(), deadline.remaining());
            if (endOffsets.entrySet().stream()
                    .allMatch(end -> visibleOffsets.getOrDefault(end.getKey(), 0L) >= end.getValue())) {
                return;
            }
            sleep(10);
        }
    }

    private CollectionsContent readToEnd(Consumer<byte[], Object> consumer, Deadline deadline) {
        List<TopicPartition> partitions = requireTopic(consumer, deadline);
        consumer.assign(partitions);
        consumer.seekToBeginning(partitions);
        Map<TopicPartition, Long> endOffsets = consumer.endOffsets(partitions, deadline.remaining());
        ContentReader reader = new ContentReader();
        while (!hasReached(consumer, endOffsets, deadline)) {
            Duration remaining = deadline.remaining();
            consumer.poll(POLL_TIMEOUT.compareTo(remaining) < 0 ? POLL_TIMEOUT : remaining)
                    .forEach(reader::read);
        }
        return reader.content();
    }

    /** Replaces a value that the deserializer could not read. */
    private record Undecodable(RuntimeException thrown) {
        String reason() {
            return thrown.getMessage() == null ? thrown.toString() : thrown.getMessage();
        }
    }

    /** Returns {@link Undecodable} instead of throwing, because an exception would stop the consumer at the record. */
    static final class LenientDeserializer implements Deserializer<Object> {
        private final Deserializer<?> strict;

        LenientDeserializer(Deserializer<?> strict) {
            this.strict = strict;
        }

        @Override
        public Object deserialize(String topic, byte[] value) {
            return deserialize(topic, new RecordHeaders(), value);
        }

        @Override
        @SuppressWarnings("NullAway") // Kafka's interface has no nullness annotations: a deserializer may return null.
        public Object deserialize(String topic, Headers headers, byte[] value) {
            try {
                return strict.deserialize(topic, headers, value);
            } catch (RuntimeException e) {
                if (isCauseOutsideRecord(e)) {
                    throw e;
                }
                return new Undecodable(e);
            }
        }

        @Override
        public void close() {
            strict.close();
        }

        /**
         * Returns whether the schema registry was unreachable or the thread was interrupted. Then it is unknown whether
         * the record can be read.
         */
        private static boolean isCauseOutsideRecord(RuntimeException e) {
            for (Throwable cause = e; cause != null; cause = cause.getCause()) {
                // Confluent's deserializer throws exceptions of the JDK's network classes, or a Kafka ApiException.
                String name = cause.getClass().getName();
                if (cause instanceof SchemaRegistryUnavailableException
                        || cause instanceof ApiException
                        || cause instanceof InterruptException
                        || cause instanceof InterruptedException
                        || name.startsWith("java.net.")
                        || name.startsWith("javax.net.")) {
                    return true;
                }
            }
            return false;
        }
    }

    /** Collects declarations and unreadable records. A record replaces any earlier record with the same key. */
    private static final class ContentReader {
        private final LiveDeclarations declarations = new LiveDeclarations();
        private final Map<ByteBuffer, UnreadableDeclaration> unreadable = new LinkedHashMap<>();
        private final List<UnreadableDeclaration> withoutKey = new ArrayList<>();

        void read(ConsumerRecord<byte[], Object> record) {
            ByteBuffer key = record.key() == null ? null : ByteBuffer.wrap(record.key());
            if (key == null) {
                add(toUnreadable(record, null, "it has no key"));
                return;
            }
            String keyText = new String(record.key(), StandardCharsets.UTF_8);
            if (record.value() == null) {
                declarations.remove(keyText);
                unreadable.remove(key);
                return;
            }
            if (record.value() instanceof Undecodable value) {
                add(toUnreadable(record, key, value.reason()));
                return;
            }
            try {
                Declaration declaration = DeclarationAvro.fromAvro((CollectionsEntry) record.value());
                if (!declaration.key().equals(keyText)) {
                    throw new IllegalArgumentException("it declares " + declaration.key() + ", but has another key");
                }
                declarations.put(declaration);
                unreadable.remove(key);
            } catch (IllegalArgumentException | ClassCastException e) {
                add(toUnreadable(record, key, String.valueOf(e.getMessage())));
            }
        }

        private static UnreadableDeclaration toUnreadable(
                ConsumerRecord<byte[], Object> record, @Nullable ByteBuffer key, String reason) {
            return new UnreadableDeclaration(record.topic(), record.partition(), record.offset(), key, reason);
        }

        private void add(UnreadableDeclaration record) {
            if (record.key() == null) {
                withoutKey.add(record);
            } else {
                unreadable.remove(record.key());
                unreadable.put(record.key(), record);
            }
        }

        CollectionsContent content() {
            List<UnreadableDeclaration> unreadableRecords = new ArrayList<>(unreadable.values());
            unreadableRecords.addAll(withoutKey);
            unreadableRecords.sort(Comparator.comparingLong(UnreadableDeclaration::offset));
            return new CollectionsContent(declarations.snapshot(), unreadableRecords);
        }
    }

    private static boolean hasReached(
            Consumer<byte[], Object> consumer, Map<TopicPartition, Long> endOffsets, Deadline deadline) {
        return endOffsets.entrySet().stream()
                .allMatch(end ->
                        end.getValue() == 0 || consumer.position(end.getKey(), deadline.remaining()) >= end.getValue());
    }

    private List<TopicPartition> requireTopic(Consumer<byte[], Object> consumer, Deadline deadline) {
        List<TopicPartition> partitions = consumer.partitionsFor(topic, deadline.remaining()).stream()
                .map(info -> new TopicPartition(topic, info.partition()))
                .toList();
        if (partitions.isEmpty()) {
            throw new CollectionRegistryException(
                    "the topic " + topic + " does not exist on " + bootstrapServers()
                            + "; create it with: puri topics create",
                    null);
        }
        return partitions;
    }

    private Consumer<byte[], Object> openConsumer() {
        Map<String, Object> config = new HashMap<>(properties);
        config.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class.getName());
        config.putIfAbsent(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, AVRO_DESERIALIZER);
        // Property of Confluent's deserializer. Without it the deserializer returns generic records.
        config.put("specific.avro.reader", "true");
        config.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        config.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        config.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
        config.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        // A fetch that waits for records at the end of a partition delays the next request on its connection.
        config.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, "10");
        config.keySet().removeAll(List.of(ConsumerConfig.GROUP_ID_CONFIG, ConsumerConfig.GROUP_INSTANCE_ID_CONFIG));
        Deserializer<?> values = new ConsumerConfig(config)
                .getConfiguredInstance(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, Deserializer.class);
        values.configure(config, false);
        return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new LenientDeserializer(values));
    }

    private Producer<byte[], @Nullable Object> openProducer() {
        String millis = String.valueOf(timeout.toMillis());
        Map<String, Object> config = new HashMap<>(properties);
        config.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class.getName());
        config.putIfAbsent(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, AVRO_SERIALIZER);
        config.putIfAbsent(ProducerProperties.REMOVE_JAVA_PROPERTIES, "true");
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

    private static RecordMetadata result(Future<RecordMetadata> future, Deadline deadline) {
        try {
            return future.get(deadline.remaining().toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof KafkaException cause ? cause : new KafkaException(e.getCause());
        } catch (java.util.concurrent.TimeoutException e) {
            throw new TimeoutException("a record was not acknowledged in time", e);
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    private static boolean isFenced(Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            // While the coordinator fences this producer, its requests can also fail because the transaction is in an
            // invalid state.
            if (cause instanceof ProducerFencedException
                    || cause instanceof InvalidProducerEpochException
                    || cause instanceof InvalidTxnStateException
                    || cause instanceof TransactionAbortableException) {
                return true;
            }
        }
        return false;
    }

    private CollectionRegistryException unavailable(String problem, KafkaException e) {
        String hint = e instanceof TransactionalIdAuthorizationException
                ? "; the principal needs WRITE on the transactional id " + TRANSACTIONAL_ID
                : "";
        // Kafka's message says which record could not be deserialized, and the message of the cause says why.
        String detail = e instanceof RecordDeserializationException && e.getCause() != null
                ? e.getMessage() + " " + e.getCause().getMessage()
                : e.getMessage();
        return new CollectionRegistryException(
                "the topic " + topic + " on " + bootstrapServers() + " " + problem + ": " + detail + hint, e);
    }

    private Object bootstrapServers() {
        return properties.getOrDefault("bootstrap.servers", "(no bootstrap.servers given)");
    }

    /** Sleeps for a random time that grows with each attempt, so that two applies do not keep fencing each other. */
    private static void sleepBeforeRetry(int attempt) {
        long maxMillis = Math.min(MAX_RETRY_DELAY.toMillis(), 50L << attempt);
        sleep(ThreadLocalRandom.current().nextLong(maxMillis / 4, maxMillis));
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    /** A point in time after which calls fail with Kafka's TimeoutException. */
    static final class Deadline {
        private final Duration timeout;
        private final long endNanos;

        Deadline(Duration timeout) {
            this.timeout = timeout;
            this.endNanos = System.nanoTime() + timeout.toNanos();
        }

        Duration remaining() {
            long remainingNanos = endNanos - System.nanoTime();
            if (remainingNanos <= 0) {
                throw new TimeoutException("no result within " + timeout.toMillis() + " ms");
            }
            return Duration.ofNanos(Math.max(remainingNanos, TimeUnit.MILLISECONDS.toNanos(1)));
        }
    }
}

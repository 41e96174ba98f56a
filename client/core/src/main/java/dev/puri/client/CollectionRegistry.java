package dev.puri.client;

import dev.puri.schemas.avro.CollectionsEntry;
import dev.puri.schemas.collection.Declaration;
import dev.puri.schemas.collection.DeclarationAvro;
import dev.puri.schemas.collection.Declared;
import dev.puri.schemas.collection.LiveDeclarations;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.RegistryUnavailableException;
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
 * The declared collections, read from and written to {@code puri.collections.v1}. Thread-safe; holds
 * no connection between calls.
 *
 * <p>A prefix must never be given twice, and the topic itself refuses nothing. So every apply uses the same transactional id, which
 * only one producer in the cluster can hold. {@code initTransactions} fences the producer that holds it, aborts its open
 * transaction, and returns only when its committed records can be read. The apply then reads the whole topic and writes. If
 * another apply begins before the commit, the commit fails.
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
     * Opens no connection yet.
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
     * Reads all declarations, and lists the records that cannot be read.
     *
     * @throws CollectionRegistryException if the topic is missing or cannot be read to its end in time
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
     * Declares all of these or, if any conflicts with the existing declarations, none. Other declarations stay. Once this returns, every
     * reader sees the new ones. While a record cannot be read, its key and new prefixes are conflicts.
     *
     * @return the declarations that were written, perhaps none; or all conflicts
     * @throws CollectionRegistryException if the cluster fails, or other applies fence this one again and again; applying again
     *     is harmless
     */
    public Declared apply(List<? extends Declaration> wanted) {
        return decide(content -> {
            Declared declared = content.declare(wanted);
            return new Decision<>(
                    declared,
                    declared instanceof Declared.Changes changes
                            ? changes.writes().stream().map(this::write).toList()
                            : List.of());
        });
    }

    /**
     * Writes a later record with the key of each record that cannot be read, so that compaction removes the unreadable one: the given
     * declaration of that key, else the last readable one, else a tombstone. After a tombstone, a prefix that only the
     * unreadable record held can be given again.
     *
     * @param known declarations that belong under those keys; those of other keys are ignored
     * @return the records that were written, perhaps none
     * @throws CollectionRegistryException as {@link #apply}, or if a given declaration conflicts with the existing ones
     */
    public List<CollectionsContent.Repair> repair(List<? extends Declaration> known) {
        return decide(content -> {
            List<CollectionsContent.Repair> repairs = content.repairs(known);
            return new Decision<>(repairs, repairs.stream().map(this::write).toList());
        });
    }

    private ProducerRecord<byte[], @Nullable Object> write(Declaration declaration) {
        return new ProducerRecord<byte[], @Nullable Object>(
                topic, declaration.key().getBytes(StandardCharsets.UTF_8), DeclarationAvro.toAvro(declaration));
    }

    private ProducerRecord<byte[], @Nullable Object> write(CollectionsContent.Repair repair) {
        Declaration replacement = repair.replacement();
        return new ProducerRecord<byte[], @Nullable Object>(
                topic, repair.record().keyBytes(), replacement == null ? null : DeclarationAvro.toAvro(replacement));
    }

    /** The result for the caller, and the records to write. */
    private record Decision<T>(T result, List<ProducerRecord<byte[], @Nullable Object>> writes) {}

    private <T> T decide(Function<CollectionsContent, Decision<T>> decider) {
        KafkaException last = null;
        for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
            try {
                return decideOnce(decider);
            } catch (KafkaException e) {
                if (!isFenced(e)) {
                    throw unavailable("could not be written; apply again, which is harmless", e);
                }
                last = e;
                pause(attempt);
            }
        }
        throw new CollectionRegistryException(
                "another apply took over " + ATTEMPTS + " times in a row and nothing was written; apply again", last);
    }

    private <T> T decideOnce(Function<CollectionsContent, Decision<T>> decider) {
        Deadline deadline = new Deadline(timeout);
        Producer<byte[], @Nullable Object> producer = openProducer();
        try (Consumer<byte[], Object> consumer = openConsumer()) {
            requireTopic(consumer, deadline);
            producer.initTransactions();
            Decision<T> decision = decider.apply(readToEnd(consumer, deadline));
            if (!decision.writes().isEmpty()) {
                awaitVisible(consumer, write(producer, decision.writes(), deadline), deadline);
            }
            return decision.result();
        } finally {
            // Every record is committed, aborted or fenced by now, so there is nothing to wait for.
            producer.close(Duration.ZERO);
        }
    }

    /** Returns the offset after the last record written to each partition. */
    private Map<TopicPartition, Long> write(
            Producer<byte[], @Nullable Object> producer,
            List<ProducerRecord<byte[], @Nullable Object>> records,
            Deadline deadline) {
        producer.beginTransaction();
        try {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            records.forEach(each -> sent.add(producer.send(each)));
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
    private static void abort(Producer<byte[], @Nullable Object> producer, KafkaException because) {
        if (isFenced(because)) {
            return;
        }
        try {
            producer.abortTransaction();
        } catch (KafkaException | IllegalStateException e) {
            // A commit that timed out may still complete, so the client refuses to abort it: IllegalStateException.
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

    private CollectionsContent readToEnd(Consumer<byte[], Object> consumer, Deadline deadline) {
        List<TopicPartition> partitions = requireTopic(consumer, deadline);
        consumer.assign(partitions);
        consumer.seekToBeginning(partitions);
        Map<TopicPartition, Long> ends = consumer.endOffsets(partitions, deadline.left());
        Reading reading = new Reading();
        while (!reached(consumer, ends, deadline)) {
            Duration left = deadline.left();
            consumer.poll(POLL.compareTo(left) < 0 ? POLL : left).forEach(reading::take);
        }
        return reading.content();
    }

    /** The value of a record that the deserializer refused. */
    private record Undecodable(RuntimeException thrown) {
        String reason() {
            return thrown.getMessage() == null ? thrown.toString() : thrown.getMessage();
        }
    }

    /** Returns failures as values, because Kafka would log each as an error and stop at it. */
    private static final class LenientDeserializer implements Deserializer<Object> {
        private final Deserializer<?> strict;

        LenientDeserializer(Deserializer<?> strict) {
            this.strict = strict;
        }

        @Override
        public Object deserialize(String topic, byte[] value) {
            return deserialize(topic, new RecordHeaders(), value);
        }

        @Override
        @SuppressWarnings("NullAway") // Kafka's interface has no nullness: a deserializer may return null.
        public Object deserialize(String topic, Headers headers, byte[] value) {
            try {
                return strict.deserialize(topic, headers, value);
            } catch (RuntimeException e) {
                if (isOutOfReach(e)) {
                    throw e;
                }
                return new Undecodable(e);
            }
        }

        @Override
        public void close() {
            strict.close();
        }

        /** Whether the schema registry was unreachable, so that nobody knows whether the record can be read. */
        private static boolean isOutOfReach(RuntimeException e) {
            for (Throwable cause = e; cause != null; cause = cause.getCause()) {
                // Confluent's deserializer throws exceptions of the JDK's network classes, or Kafka's ApiException.
                String name = cause.getClass().getName();
                if (cause instanceof RegistryUnavailableException
                        || cause instanceof ApiException
                        || name.startsWith("java.net.")
                        || name.startsWith("javax.net.")) {
                    return true;
                }
            }
            return false;
        }
    }

    /** Folds records into declarations. A later record of a key replaces the earlier one, readable or not. */
    private static final class Reading {
        private final LiveDeclarations declarations = new LiveDeclarations();
        private final Map<ByteBuffer, UnreadableDeclaration> unreadable = new LinkedHashMap<>();
        private final List<UnreadableDeclaration> withoutKey = new ArrayList<>();

        void take(ConsumerRecord<byte[], Object> entry) {
            ByteBuffer key = entry.key() == null ? null : ByteBuffer.wrap(entry.key());
            if (key == null) {
                add(unreadable(entry, null, "it has no key"));
                return;
            }
            String name = new String(entry.key(), StandardCharsets.UTF_8);
            if (entry.value() == null) {
                declarations.remove(name);
                unreadable.remove(key);
                return;
            }
            if (entry.value() instanceof Undecodable value) {
                add(unreadable(entry, key, value.reason()));
                return;
            }
            try {
                Declaration declaration = DeclarationAvro.fromAvro((CollectionsEntry) entry.value());
                if (!declaration.key().equals(name)) {
                    throw new IllegalArgumentException("it declares " + declaration.key() + " under another key");
                }
                declarations.put(declaration);
                unreadable.remove(key);
            } catch (IllegalArgumentException | ClassCastException e) {
                add(unreadable(entry, key, String.valueOf(e.getMessage())));
            }
        }

        private static UnreadableDeclaration unreadable(
                ConsumerRecord<byte[], Object> entry, @Nullable ByteBuffer key, String reason) {
            return new UnreadableDeclaration(entry.topic(), entry.partition(), entry.offset(), key, reason);
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
            List<UnreadableDeclaration> all = new ArrayList<>(unreadable.values());
            all.addAll(withoutKey);
            all.sort(Comparator.comparingLong(UnreadableDeclaration::offset));
            return new CollectionsContent(declarations.snapshot(), all);
        }
    }

    private static boolean reached(
            Consumer<byte[], Object> consumer, Map<TopicPartition, Long> ends, Deadline deadline) {
        return ends.entrySet().stream()
                .allMatch(end ->
                        end.getValue() == 0 || consumer.position(end.getKey(), deadline.left()) >= end.getValue());
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
        // A fetch that waits at the end of a partition would hold up the next request on its connection.
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

    private static boolean isFenced(Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            // A write that arrives while the coordinator fences this producer's transaction meets an invalid state.
            if (cause instanceof ProducerFencedException
                    || cause instanceof InvalidProducerEpochException
                    || cause instanceof InvalidTxnStateException
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

    /** Throws Kafka's TimeoutException when the time is over, as Kafka's own calls do when their share of it is. */
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

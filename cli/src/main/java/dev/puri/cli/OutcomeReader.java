package dev.puri.cli;

import dev.puri.schemas.avro.EventPosition;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.AvroDeserializer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * Reads the outcomes of published events. The headers of records of {@code puri.identities.v1} contain the positions
 * and outcomes of events. {@code puri.rejections.v1} contains the details of refusals. The reader begins at the end
 * offsets of both topics at the time of {@link #start}, so it must be started before the first event is sent.
 */
final class OutcomeReader implements AutoCloseable {
    private static final Duration POLL_TIMEOUT = Duration.ofMillis(100);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

    /**
     * Maximum time to wait for a rejection after its outcome. A rejection and its outcome are written in the same
     * transaction, so they are read at about the same time.
     */
    private static final Duration REJECTION_TIMEOUT = Duration.ofSeconds(5);

    private final Consumer<byte[], byte[]> consumer;
    private final AvroDeserializer rejectionDeserializer;
    private final Thread reader = new Thread(this::read, "outcomes");

    /** Guards the matcher, its progress and the failure. Waiting threads are notified when one of them changes. */
    private final Object lock = new Object();

    private final OutcomeMatcher matcher;
    private long matchedCount;
    private @Nullable KafkaException failure;
    private volatile boolean closed;

    private OutcomeReader(
            Consumer<byte[], byte[]> consumer,
            AvroDeserializer rejectionDeserializer,
            OutcomeMatcher.Listener listener) {
        this.consumer = consumer;
        this.rejectionDeserializer = rejectionDeserializer;
        this.matcher = new OutcomeMatcher(listener);
        reader.setDaemon(true);
    }

    /**
     * Starts reading at the topics' end offsets.
     *
     * @param listener receives the outcomes; it is called by one thread at a time and must not block
     * @throws CommandException if a topic does not exist
     */
    static OutcomeReader start(CliSettings settings, OutcomeMatcher.Listener listener) {
        Map<String, Object> properties = settings.interactiveProperties();
        properties.put("isolation.level", "read_committed");
        properties.put("enable.auto.commit", "false");
        properties.put("specific.avro.reader", "true");
        AvroDeserializer rejectionDeserializer = new AvroDeserializer();
        rejectionDeserializer.configure(properties, false);
        Consumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        OutcomeReader outcomeReader = new OutcomeReader(consumer, rejectionDeserializer, listener);
        boolean started = false;
        try {
            outcomeReader.seekToEnd();
            outcomeReader.reader.start();
            started = true;
            return outcomeReader;
        } finally {
            if (!started) {
                consumer.close();
                rejectionDeserializer.close();
            }
        }
    }

    private void seekToEnd() {
        List<TopicPartition> partitions = new ArrayList<>();
        for (String topic : List.of(Topics.IDENTITIES, Topics.REJECTIONS)) {
            List<PartitionInfo> partitionsOfTopic = consumer.partitionsFor(topic);
            if (partitionsOfTopic.isEmpty()) {
                throw CommandException.failed(
                        "the topic " + topic + " does not exist; create it with: puri topics create", null);
            }
            partitionsOfTopic.forEach(info -> partitions.add(new TopicPartition(topic, info.partition())));
        }
        consumer.assign(partitions);
        consumer.seekToEnd(partitions);
        // seekToEnd() is lazy. Calling position() makes the consumer look up the end offsets now, before the first
        // event is sent.
        partitions.forEach(partition -> consumer.position(partition));
    }

    /** Registers a published event. The listener receives its outcome together with the number of its input line. */
    void expect(Position position, long line) {
        synchronized (lock) {
            matcher.expect(position, line);
            lock.notifyAll();
        }
    }

    /**
     * Waits until all expected outcomes are read.
     *
     * @param timeout the maximum time without progress
     * @return the number of events whose outcome is missing
     * @throws KafkaException if the topics cannot be read
     */
    int await(Duration timeout) throws InterruptedException {
        synchronized (lock) {
            long lastCount = matchedCount;
            long deadline = System.nanoTime() + timeout.toNanos();
            while (matcher.waitingCount() > 0 && System.nanoTime() < deadline) {
                throwIfFailed();
                lock.wait(POLL_TIMEOUT.toMillis());
                if (matchedCount != lastCount) {
                    lastCount = matchedCount;
                    deadline = System.nanoTime() + timeout.toNanos();
                }
            }
            deadline = System.nanoTime() + REJECTION_TIMEOUT.toNanos();
            while (matcher.lacksDetails() && failure == null && System.nanoTime() < deadline) {
                lock.wait(POLL_TIMEOUT.toMillis());
            }
            matcher.settleWithoutDetails();
            return matcher.waitingCount();
        }
    }

    /**
     * Throws the failure of the reading thread, if there is one.
     *
     * @throws KafkaException if the topics cannot be read
     */
    void throwIfFailed() {
        synchronized (lock) {
            if (failure != null) {
                throw failure;
            }
        }
    }

    private void read() {
        try {
            while (!closed) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL_TIMEOUT)) {
                    if (record.topic().equals(Topics.REJECTIONS)) {
                        onRejection(record);
                    } else {
                        onOutcome(record);
                    }
                }
            }
        } catch (WakeupException e) {
            // Thrown by the wakeup in close().
        } catch (RuntimeException | Error e) {
            // An error too, because the waiting command would otherwise wait for its timeout.
            synchronized (lock) {
                failure = new KafkaException("the outcomes can no longer be read: " + e.getMessage(), e);
                lock.notifyAll();
            }
        } finally {
            consumer.close();
            rejectionDeserializer.close();
        }
    }

    private void onOutcome(ConsumerRecord<byte[], byte[]> record) {
        String position = header(record, Position.HEADER);
        String outcome = header(record, Outcome.HEADER);
        if (position == null || outcome == null) {
            return;
        }
        synchronized (lock) {
            if (matcher.addOutcome(Position.parse(position), Outcome.parse(outcome))) {
                matchedCount++;
                lock.notifyAll();
            }
        }
    }

    private void onRejection(ConsumerRecord<byte[], byte[]> record) {
        Rejection rejection = deserialize(record);
        if (rejection == null) {
            return;
        }
        Outcome outcome;
        try {
            outcome = Outcome.refused(Reason.valueOf(rejection.getReason()));
        } catch (IllegalArgumentException e) {
            // A newer topology has a reason that this release does not know. The record of puri.identities.v1 still
            // contains the outcome.
            return;
        }
        EventPosition position = rejection.getPosition();
        synchronized (lock) {
            matcher.addRejection(
                    new Position(position.getTopic(), position.getPartition(), position.getOffset()),
                    outcome,
                    rejection.getDetail());
            lock.notifyAll();
        }
    }

    /**
     * Decodes a rejection. Returns null if the record cannot be decoded; then the detail of a refusal is missing, but
     * not its outcome.
     */
    private @Nullable Rejection deserialize(ConsumerRecord<byte[], byte[]> record) {
        try {
            return rejectionDeserializer.deserialize(record.topic(), record.value()) instanceof Rejection rejection
                    ? rejection
                    : null;
        } catch (SerializationException e) {
            return null;
        }
    }

    private static @Nullable String header(ConsumerRecord<?, ?> record, String name) {
        Header header = record.headers().lastHeader(name);
        return header == null ? null : new String(header.value(), StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        closed = true;
        consumer.wakeup();
        try {
            reader.join(CLOSE_TIMEOUT);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

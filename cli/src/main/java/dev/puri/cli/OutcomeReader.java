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
 * Reads the outcomes of published events. {@code puri.identities.v1} contains a record for each event, whose headers
 * are the event's position and outcome; {@code puri.rejections.v1} contains the details of refusals. Both are read from
 * their end offsets at the time of {@link #start}, so it must be called before the first event is sent.
 */
final class OutcomeReader implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(100);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

    /** A rejection is written in the same transaction as its outcome, so it is read shortly after or before it. */
    private static final Duration REJECTION_TIMEOUT = Duration.ofSeconds(5);

    private final Consumer<byte[], byte[]> consumer;
    private final AvroDeserializer rejections;
    private final Thread reader = new Thread(this::read, "outcomes");

    /** Guards the fields below, and is notified of their changes. */
    private final Object lock = new Object();

    private final OutcomeMatcher matcher;
    private long matchedCount;
    private @Nullable KafkaException failure;
    private volatile boolean closed;

    private OutcomeReader(
            Consumer<byte[], byte[]> consumer, AvroDeserializer rejections, OutcomeMatcher.Listener listener) {
        this.consumer = consumer;
        this.rejections = rejections;
        this.matcher = new OutcomeMatcher(listener);
        reader.setDaemon(true);
    }

    /**
     * Starts reading at the topics' end offsets.
     *
     * @param listener called by one thread at a time; must not block
     * @throws CommandException if a topic does not exist
     */
    static OutcomeReader start(CliSettings settings, OutcomeMatcher.Listener listener) {
        Map<String, Object> properties = settings.interactiveProperties();
        properties.put("isolation.level", "read_committed");
        properties.put("enable.auto.commit", "false");
        properties.put("specific.avro.reader", "true");
        AvroDeserializer rejections = new AvroDeserializer();
        rejections.configure(properties, false);
        Consumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        OutcomeReader outcomes = new OutcomeReader(consumer, rejections, listener);
        boolean started = false;
        try {
            outcomes.seekToEnd();
            outcomes.reader.start();
            started = true;
            return outcomes;
        } finally {
            if (!started) {
                consumer.close();
                rejections.close();
            }
        }
    }

    private void seekToEnd() {
        List<TopicPartition> all = new ArrayList<>();
        for (String topic : List.of(Topics.IDENTITIES, Topics.REJECTIONS)) {
            List<PartitionInfo> found = consumer.partitionsFor(topic);
            if (found.isEmpty()) {
                throw CommandException.failed(
                        "the topic " + topic + " does not exist; make it with: puri topics create", null);
            }
            found.forEach(info -> all.add(new TopicPartition(topic, info.partition())));
        }
        consumer.assign(all);
        consumer.seekToEnd(all);
        // seekToEnd() is lazy; position() executes it before the first event is sent.
        all.forEach(each -> consumer.position(each));
    }

    /** Registers a published event; the listener gets its outcome with this line. */
    void expect(Position position, long line) {
        synchronized (lock) {
            matcher.expect(position, line);
            lock.notifyAll();
        }
    }

    /**
     * Waits until all expected outcomes are read.
     *
     * @param timeout how long to wait without progress
     * @return the number of missing outcomes
     * @throws KafkaException if the topics cannot be read
     */
    int await(Duration timeout) throws InterruptedException {
        synchronized (lock) {
            long lastCount = matchedCount;
            long deadline = System.nanoTime() + timeout.toNanos();
            while (matcher.waiting() > 0 && System.nanoTime() < deadline) {
                throwIfFailed();
                lock.wait(POLL.toMillis());
                if (matchedCount != lastCount) {
                    lastCount = matchedCount;
                    deadline = System.nanoTime() + timeout.toNanos();
                }
            }
            deadline = System.nanoTime() + REJECTION_TIMEOUT.toNanos();
            while (matcher.lacksDetails() && failure == null && System.nanoTime() < deadline) {
                lock.wait(POLL.toMillis());
            }
            matcher.settleWithoutDetails();
            return matcher.waiting();
        }
    }

    /**
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
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                    if (record.topic().equals(Topics.REJECTIONS)) {
                        onRejection(record);
                    } else {
                        onOutcome(record);
                    }
                }
            }
        } catch (WakeupException e) {
            // Closed.
        } catch (RuntimeException e) {
            synchronized (lock) {
                failure = new KafkaException("the outcomes can no longer be read: " + e.getMessage(), e);
                lock.notifyAll();
            }
        } finally {
            consumer.close();
            rejections.close();
        }
    }

    private void onOutcome(ConsumerRecord<byte[], byte[]> record) {
        String position = header(record, Position.HEADER);
        String outcome = header(record, Outcome.HEADER);
        if (position == null || outcome == null) {
            return;
        }
        synchronized (lock) {
            if (matcher.outcome(Position.parse(position), Outcome.parse(outcome))) {
                matchedCount++;
                lock.notifyAll();
            }
        }
    }

    private void onRejection(ConsumerRecord<byte[], byte[]> record) {
        Rejection rejection = read(record);
        if (rejection == null) {
            return;
        }
        Outcome outcome;
        try {
            outcome = Outcome.refused(Reason.valueOf(rejection.getReason()));
        } catch (IllegalArgumentException e) {
            // The reason of a newer registry; the record of identities still has the outcome.
            return;
        }
        EventPosition at = rejection.getPosition();
        synchronized (lock) {
            matcher.rejection(
                    new Position(at.getTopic(), at.getPartition(), at.getOffset()), outcome, rejection.getDetail());
            lock.notifyAll();
        }
    }

    /** Returns null if the record cannot be decoded; then the details of a refusal are missing, but no outcome. */
    private @Nullable Rejection read(ConsumerRecord<byte[], byte[]> record) {
        try {
            return rejections.deserialize(record.topic(), record.value()) instanceof Rejection rejection
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

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
 * What becomes of published events. {@code puri.identities.v1} holds one record for each, whose headers
 * name the event's position and its outcome; {@code puri.rejections.v1} tells the rest of a refusal.
 * Both are read from where they end when this is made, so it is made before the first event is sent.
 */
final class Outcomes implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(100);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

    /** A rejection stands in the same transaction as its outcome, so it is not far. */
    private static final Duration REJECTION_LAG = Duration.ofSeconds(5);

    private final Consumer<byte[], byte[]> consumer;
    private final AvroDeserializer rejections;
    private final Thread reader = new Thread(this::read, "outcomes");

    /** Guards what follows, and is told of every change. */
    private final Object lock = new Object();

    private final Expectations expectations;
    private long outcomes;
    private @Nullable KafkaException broken;
    private volatile boolean closed;

    private Outcomes(Consumer<byte[], byte[]> consumer, AvroDeserializer rejections, Expectations.Listener listener) {
        this.consumer = consumer;
        this.rejections = rejections;
        this.expectations = new Expectations(listener);
        reader.setDaemon(true);
    }

    /**
     * Reads on from now.
     *
     * @param listener called by one thread at a time; must not block
     * @throws CommandException when the topics are not there
     */
    static Outcomes follow(CliSettings settings, Expectations.Listener listener) {
        Map<String, Object> properties = settings.impatientProperties();
        properties.put("isolation.level", "read_committed");
        properties.put("enable.auto.commit", "false");
        properties.put("specific.avro.reader", "true");
        AvroDeserializer rejections = new AvroDeserializer();
        rejections.configure(properties, false);
        Consumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        Outcomes following = new Outcomes(consumer, rejections, listener);
        boolean started = false;
        try {
            following.seekToEnd();
            following.reader.start();
            started = true;
            return following;
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
        // Seeking is lazy; asking for the position makes it happen before anything is sent.
        all.forEach(each -> consumer.position(each));
    }

    /** Tells where an event stands; its outcome goes to the listener as this line's. */
    void expect(Position position, long line) {
        synchronized (lock) {
            expectations.expect(position, line);
            lock.notifyAll();
        }
    }

    /**
     * Waits until every expected outcome has been told.
     *
     * @param patience how long to wait without any progress
     * @return how many are still missing after that
     * @throws KafkaException when the topics can no longer be read
     */
    int await(Duration patience) throws InterruptedException {
        synchronized (lock) {
            long seen = outcomes;
            long deadline = System.nanoTime() + patience.toNanos();
            while (expectations.waiting() > 0 && System.nanoTime() < deadline) {
                requireReading();
                lock.wait(POLL.toMillis());
                if (outcomes != seen) {
                    seen = outcomes;
                    deadline = System.nanoTime() + patience.toNanos();
                }
            }
            deadline = System.nanoTime() + REJECTION_LAG.toNanos();
            while (expectations.lacksDetails() && broken == null && System.nanoTime() < deadline) {
                lock.wait(POLL.toMillis());
            }
            expectations.tellWithoutDetails();
            return expectations.waiting();
        }
    }

    /**
     * @throws KafkaException when the topics can no longer be read
     */
    void requireReading() {
        synchronized (lock) {
            if (broken != null) {
                throw broken;
            }
        }
    }

    private void read() {
        try {
            while (!closed) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                    if (record.topic().equals(Topics.REJECTIONS)) {
                        takeRejection(record);
                    } else {
                        takeOutcome(record);
                    }
                }
            }
        } catch (WakeupException e) {
            // Closed.
        } catch (RuntimeException e) {
            synchronized (lock) {
                broken = new KafkaException("the outcomes can no longer be read: " + e.getMessage(), e);
                lock.notifyAll();
            }
        } finally {
            consumer.close();
            rejections.close();
        }
    }

    private void takeOutcome(ConsumerRecord<byte[], byte[]> record) {
        String position = header(record, Position.HEADER);
        String outcome = header(record, Outcome.HEADER);
        if (position == null || outcome == null) {
            return;
        }
        synchronized (lock) {
            if (expectations.outcome(Position.parse(position), Outcome.parse(outcome))) {
                outcomes++;
                lock.notifyAll();
            }
        }
    }

    private void takeRejection(ConsumerRecord<byte[], byte[]> record) {
        Rejection rejection = read(record);
        if (rejection == null) {
            return;
        }
        Outcome outcome;
        try {
            outcome = Outcome.refused(Reason.valueOf(rejection.getReason()));
        } catch (IllegalArgumentException e) {
            // A newer registry's; the identities tell the outcome.
            return;
        }
        EventPosition at = rejection.getPosition();
        synchronized (lock) {
            expectations.rejection(
                    new Position(at.getTopic(), at.getPartition(), at.getOffset()), outcome, rejection.getDetail());
            lock.notifyAll();
        }
    }

    /** Null when it cannot be read, which costs the details of one refusal and no outcome. */
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

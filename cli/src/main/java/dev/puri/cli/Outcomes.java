package dev.puri.cli;

import dev.puri.schemas.avro.EventPosition;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.AvroDeserializer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
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
 *
 * <p>Outcome and acknowledgement race: an outcome may be read before the producer has told where its
 * event stands. Such outcomes are kept by offset. An acknowledgement comes in the order of offsets
 * within a partition, so whatever lies below it and is not ours is somebody else's and dropped; what is
 * kept above it is bounded by {@value #MAX_EARLY} a partition.
 */
final class Outcomes implements AutoCloseable {
    static final int MAX_EARLY = 100_000;

    private static final int MAX_EARLY_DETAILS = 10_000;

    private static final Duration POLL = Duration.ofMillis(100);
    private static final Duration REACH = Duration.ofMillis(CliSettings.REACH_MILLIS);

    /** Hears of each event once, of one at a time; must not block. */
    interface Listener {
        /**
         * @param line what the event was expected as
         * @param detail what the rejection says; empty unless the event was refused, and where its
         *     rejection could not be read
         */
        void settled(long line, Outcome outcome, String detail);
    }

    /** What is read ahead of its acknowledgement, and what waits, by offset. */
    private static final class Partition {
        final Map<Long, Long> lineOf = new HashMap<>();
        final NavigableMap<Long, Outcome> early = new TreeMap<>();
    }

    private record Refused(long line, Outcome outcome) {}

    private final Consumer<byte[], byte[]> consumer;
    private final AvroDeserializer rejections;
    private final Listener listener;
    private final Thread reader;
    private final Object lock = new Object();

    private final Map<TopicPartition, Partition> partitions = new HashMap<>();
    private final Map<Position, Refused> untold = new HashMap<>();
    private final Map<Position, String> earlyDetails = new LinkedHashMap<>();
    private int waiting;
    private long settled;
    private @Nullable KafkaException broken;
    private volatile boolean closed;

    private Outcomes(Consumer<byte[], byte[]> consumer, AvroDeserializer rejections, Listener listener) {
        this.consumer = consumer;
        this.rejections = rejections;
        this.listener = listener;
        this.reader = new Thread(this::read, "outcomes");
        reader.setDaemon(true);
    }

    /**
     * Reads on from now.
     *
     * @throws CommandException when the topics are not there
     */
    static Outcomes follow(CliSettings settings, Listener listener) {
        Map<String, Object> properties = settings.impatientProperties();
        properties.put("isolation.level", "read_committed");
        properties.put("enable.auto.commit", "false");
        properties.remove("group.id");
        AvroDeserializer rejections = new AvroDeserializer();
        Map<String, Object> specific = new HashMap<>(properties);
        specific.put("specific.avro.reader", "true");
        rejections.configure(specific, false);
        Consumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        Outcomes outcomes = new Outcomes(consumer, rejections, listener);
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
            var found = consumer.partitionsFor(topic, REACH);
            if (found.isEmpty()) {
                throw CommandException.failed(
                        "the topic " + topic + " does not exist; make it with: puri topics create", null);
            }
            found.forEach(info -> all.add(new TopicPartition(topic, info.partition())));
        }
        consumer.assign(all);
        consumer.seekToEnd(all);
        // Seeking is lazy; asking for the position makes it happen before anything is sent.
        all.forEach(each -> consumer.position(each, REACH));
    }

    /** Tells where an event stands; its outcome goes to the listener as this line's. */
    void expect(Position position, long line) {
        synchronized (lock) {
            Partition partition = partition(position);
            Outcome early = partition.early.remove(position.offset());
            partition.early.headMap(position.offset(), true).clear();
            if (early == null) {
                partition.lineOf.put(position.offset(), line);
                waiting++;
            } else {
                settle(position, line, early);
            }
        }
    }

    private Partition partition(Position position) {
        return partitions.computeIfAbsent(
                new TopicPartition(position.topic(), position.partition()), none -> new Partition());
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
            long seen = settled;
            long deadline = System.nanoTime() + patience.toNanos();
            while (waiting > 0) {
                requireReading();
                long left = deadline - System.nanoTime();
                if (left <= 0) {
                    break;
                }
                lock.wait(Math.max(1, Math.min(left / 1_000_000, POLL.toMillis())));
                if (settled != seen) {
                    seen = settled;
                    deadline = System.nanoTime() + patience.toNanos();
                }
            }
            awaitRefusals();
            return waiting;
        }
    }

    /** A rejection stands in the same transaction as its outcome, so it is not far. */
    private void awaitRefusals() throws InterruptedException {
        long deadline = System.nanoTime() + Duration.ofSeconds(5).toNanos();
        while (!untold.isEmpty() && System.nanoTime() < deadline && broken == null) {
            lock.wait(POLL.toMillis());
        }
        untold.values().forEach(each -> listener.settled(each.line(), each.outcome(), ""));
        untold.clear();
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
                    take(record);
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

    private void take(ConsumerRecord<byte[], byte[]> record) {
        if (record.topic().equals(Topics.REJECTIONS)) {
            takeRejection(record);
            return;
        }
        String position = header(record, Position.HEADER);
        String outcome = header(record, Outcome.HEADER);
        if (position == null || outcome == null) {
            return;
        }
        synchronized (lock) {
            takeOutcome(Position.parse(position), Outcome.parse(outcome));
        }
    }

    private void takeOutcome(Position position, Outcome outcome) {
        Partition partition = partition(position);
        Long line = partition.lineOf.remove(position.offset());
        if (line != null) {
            waiting--;
            settle(position, line, outcome);
            return;
        }
        partition.early.put(position.offset(), outcome);
        if (partition.early.size() > MAX_EARLY) {
            partition.early.pollFirstEntry();
        }
    }

    private void settle(Position position, long line, Outcome outcome) {
        settled++;
        String detail = earlyDetails.remove(position);
        if (outcome.kind() == Outcome.Kind.REFUSED && detail == null) {
            untold.put(position, new Refused(line, outcome));
        } else {
            listener.settled(line, outcome, detail == null ? "" : detail);
        }
        lock.notifyAll();
    }

    private void takeRejection(ConsumerRecord<byte[], byte[]> record) {
        Rejection rejection = read(record);
        if (rejection == null) {
            return;
        }
        EventPosition at = rejection.getPosition();
        Position position = new Position(at.getTopic(), at.getPartition(), at.getOffset());
        synchronized (lock) {
            Refused refused = untold.remove(position);
            if (refused != null) {
                listener.settled(refused.line(), refused.outcome(), rejection.getDetail());
                lock.notifyAll();
                return;
            }
            earlyDetails.put(position, rejection.getDetail());
            if (earlyDetails.size() > MAX_EARLY_DETAILS) {
                earlyDetails.remove(earlyDetails.keySet().iterator().next());
            }
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
            reader.join(REACH.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

package dev.puri.cli;

import dev.puri.cli.io.LogReader;
import dev.puri.projection.AvroValueDecoder;
import dev.puri.projection.AvroValueDecoder.UnreadableException;
import dev.puri.projection.wait.EventOutcome;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.log.Outcome;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import dev.puri.schemas.serde.SchemaRegistry;
import dev.puri.schemas.serde.SchemaRegistryUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
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
    private final SchemaRegistry schemas;
    private final AvroValueDecoder<Rejection> rejections;
    private final Thread reader = Thread.ofPlatform().daemon().name("outcomes").unstarted(this::read);

    /** Guards the matcher and the failure. Waiting threads are notified when one of them changes. */
    private final Object lock = new Object();

    private final OutcomeMatcher matcher;
    private @Nullable KafkaException failure;
    private volatile boolean closed;

    private OutcomeReader(Consumer<byte[], byte[]> consumer, SchemaRegistry schemas, OutcomeMatcher.Listener listener) {
        this.consumer = consumer;
        this.schemas = schemas;
        this.rejections = new AvroValueDecoder<>(Rejection.class, schemas);
        this.matcher = new OutcomeMatcher(listener);
    }

    /**
     * Starts reading at the topics' end offsets.
     *
     * @param listener receives the outcomes; it is called by one thread at a time and must not block
     * @throws CommandException if a topic does not exist
     */
    static OutcomeReader start(CliSettings settings, OutcomeMatcher.Listener listener) {
        Map<String, Object> properties = settings.interactiveProperties();
        SchemaRegistry schemas = ConfluentSchemaRegistry.create(properties);
        return start(LogReader.consumer(properties), schemas, listener);
    }

    /** Starts reading with a consumer and a schema registry, which are closed by {@link #close} or if this fails. */
    static OutcomeReader start(
            Consumer<byte[], byte[]> consumer, SchemaRegistry schemas, OutcomeMatcher.Listener listener) {
        OutcomeReader outcomeReader = new OutcomeReader(consumer, schemas, listener);
        boolean started = false;
        try {
            outcomeReader.seekToEnd();
            outcomeReader.reader.start();
            started = true;
            return outcomeReader;
        } finally {
            if (!started) {
                outcomeReader.closeClients();
            }
        }
    }

    private void seekToEnd() {
        List<TopicPartition> partitions = new ArrayList<>();
        for (String topic : List.of(Topics.IDENTITIES, Topics.REJECTIONS)) {
            List<PartitionInfo> partitionsOfTopic = consumer.partitionsFor(topic);
            if (partitionsOfTopic.isEmpty()) {
                throw CommandException.failed(
                        "the topic " + topic + " does not exist; create it with: puri topics create");
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
            int lastCount = matcher.waitingCount();
            long deadline = System.nanoTime() + timeout.toNanos();
            while (matcher.waitingCount() > 0 && deadline - System.nanoTime() > 0) {
                throwIfFailed();
                lock.wait(POLL_TIMEOUT.toMillis());
                if (matcher.waitingCount() != lastCount) {
                    lastCount = matcher.waitingCount();
                    deadline = System.nanoTime() + timeout.toNanos();
                }
            }
            deadline = System.nanoTime() + REJECTION_TIMEOUT.toNanos();
            while (matcher.lacksDetails() && failure == null && deadline - System.nanoTime() > 0) {
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
            closeClients();
        }
    }

    private void closeClients() {
        consumer.close();
        schemas.close();
    }

    private void onOutcome(ConsumerRecord<byte[], byte[]> record) {
        String positionText = EventOutcome.text(record.headers(), Position.HEADER);
        String outcomeText = EventOutcome.text(record.headers(), Outcome.HEADER);
        if (positionText == null || outcomeText == null) {
            return;
        }
        Position position;
        ReportedOutcome outcome;
        try {
            position = Position.parse(positionText);
            outcome = ReportedOutcome.parse(outcomeText);
        } catch (IllegalArgumentException e) {
            // The registry did not write this record.
            return;
        }
        synchronized (lock) {
            if (matcher.addOutcome(position, outcome)) {
                lock.notifyAll();
            }
        }
    }

    private void onRejection(ConsumerRecord<byte[], byte[]> record) {
        if (record.value() == null) {
            return;
        }
        Rejection rejection;
        try {
            rejection = rejections.read(record.value());
        } catch (UnreadableException | SchemaRegistryUnavailableException e) {
            // The detail of the refusal is missing. The record of puri.identities.v1 still contains the outcome.
            return;
        }
        synchronized (lock) {
            matcher.addRejection(
                    StoredRejection.positionOf(rejection),
                    ReportedOutcome.refused(rejection.getReason()),
                    rejection.getDetail());
            lock.notifyAll();
        }
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

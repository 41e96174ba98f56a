package dev.puri.search;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Polls both topics and decodes the records, one batch at a time. It polls the next batch only after the caller has
 * taken the current one, so that its memory is bounded. A failure loses no record: the next call continues with the
 * record that could not be decoded. Used by one thread.
 */
final class BatchReader {
    private static final Duration CLOSE = Duration.ofMillis(200);

    /** A batch of that many records means that the index lags. */
    private static final int FULL_BATCH = 500;

    private final Supplier<Consumer<byte[], byte[]>> consumers;
    private final Decoder decoder;
    private @Nullable Consumer<byte[], byte[]> consumer;
    private @Nullable Batch current;
    private boolean lastWasFull;

    /** Decodes a record. */
    @FunctionalInterface
    interface Decoder {
        /**
         * @param polledAt when the record was polled, by {@link System#nanoTime}
         * @return null for a record that can never be decoded
         * @throws RuntimeException if the record cannot be decoded now
         */
        ChangeReader.@Nullable Read read(ConsumerRecord<byte[], byte[]> record, long polledAt);
    }

    /** Polled records, those of them that are decoded, and the next offsets after them. */
    static final class Batch {
        private final Iterator<ConsumerRecord<byte[], byte[]>> records;
        private final NextOffsets after;
        private final long polledAt = System.nanoTime();
        private final List<ChangeReader.Read> changes = new ArrayList<>();
        private long oldest = Long.MAX_VALUE;
        private @Nullable ConsumerRecord<byte[], byte[]> undecoded;

        private Batch(Iterable<ConsumerRecord<byte[], byte[]>> records, NextOffsets after) {
            this.records = records.iterator();
            this.after = after;
        }

        private void decode(Decoder decoder) {
            while (undecoded != null || records.hasNext()) {
                ConsumerRecord<byte[], byte[]> next = undecoded == null ? records.next() : undecoded;
                undecoded = next;
                ChangeReader.Read change = decoder.read(next, polledAt);
                if (change != null) {
                    changes.add(change);
                    oldest = Math.min(oldest, next.timestamp());
                }
                undecoded = null;
            }
        }

        /** The decoded records, in the order of each partition. */
        List<ChangeReader.Read> changes() {
            return changes;
        }

        /** The earliest timestamp of the changes. */
        long oldest() {
            return oldest;
        }

        NextOffsets after() {
            return after;
        }
    }

    /**
     * @param consumers of no group, that see committed records only
     */
    BatchReader(Supplier<Consumer<byte[], byte[]>> consumers, Decoder decoder) {
        this.consumers = consumers;
        this.decoder = decoder;
    }

    /**
     * Returns the current batch, or polls the next one; null when there are no records after these offsets yet.
     *
     * @param from the next offsets; a new consumer begins there
     */
    @Nullable
    Batch next(NextOffsets from, Duration timeout) {
        Batch batch = current == null ? poll(from, timeout) : current;
        current = batch;
        if (batch != null) {
            batch.decode(decoder);
        }
        return batch;
    }

    private @Nullable Batch poll(NextOffsets from, Duration timeout) {
        Consumer<byte[], byte[]> polling = consumer;
        if (polling == null) {
            polling = consumers.get();
            consumer = polling;
            polling.assign(from.next().keySet());
            from.next().forEach(polling::seek);
        }
        ConsumerRecords<byte[], byte[]> polled = polling.poll(timeout);
        lastWasFull = polled.count() >= FULL_BATCH;
        // Transaction markers take offsets too.
        Map<TopicPartition, Long> after = new HashMap<>();
        for (TopicPartition partition : from.next().keySet()) {
            after.put(partition, polling.position(partition));
        }
        return after.equals(from.next()) ? null : new Batch(polled, new NextOffsets(after));
    }

    /** Lets the next call poll: the caller has taken the current batch. */
    void taken() {
        current = null;
    }

    /** Whether the last poll returned as many records as it could. */
    boolean wasFull() {
        return lastWasFull;
    }

    /** Closes the consumer; the next poll makes another one. */
    void disconnect() {
        Consumer<byte[], byte[]> open = consumer;
        consumer = null;
        if (open != null) {
            // A close does not wait for brokers here, but an interrupted thread could not finish it.
            boolean interrupted = Thread.interrupted();
            open.close(CloseOptions.timeout(CLOSE));
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}

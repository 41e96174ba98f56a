package dev.puri.search;

import dev.puri.projection.PlainConsumers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Polls {@code puri.identities.v1} and {@code puri.documents.v1} and decodes the records, one batch at a time. The
 * poller polls the next batch only after the caller has acknowledged the current one, so its memory is bounded. If a
 * record cannot be decoded now, the next call tries that record again, so no record is lost. Not thread-safe.
 */
final class ChangePoller {
    /** A poll that returns at least this many records shows that the index lags. */
    private static final int FULL_BATCH = 500;

    private final Supplier<Consumer<byte[], byte[]>> consumers;
    private final Decoder decoder;
    /** Null before the first poll and after {@link #disconnect}. */
    private @Nullable Consumer<byte[], byte[]> consumer;

    private @Nullable Batch currentBatch;
    private boolean wasLastPollFull;

    /** Decodes the records of both topics. */
    @FunctionalInterface
    interface Decoder {
        /**
         * Decodes a record.
         *
         * @param polledAtNanos time of the poll that returned the record, by {@link System#nanoTime}
         * @return null if the record can never be decoded
         * @throws RuntimeException if the record cannot be decoded now
         */
        ChangeDecoder.@Nullable DecodedRecord decode(ConsumerRecord<byte[], byte[]> record, long polledAtNanos);
    }

    /** The records of one poll. They are decoded one after the other. */
    static final class Batch {
        private final Iterator<ConsumerRecord<byte[], byte[]>> records;
        private final NextOffsets nextOffsets;
        private final long polledAtNanos = System.nanoTime();
        private final List<ChangeDecoder.DecodedRecord> decodedRecords = new ArrayList<>();
        private long oldestTimestamp = Long.MAX_VALUE;
        private @Nullable ConsumerRecord<byte[], byte[]> nextUndecoded;

        private Batch(Iterable<ConsumerRecord<byte[], byte[]>> records, NextOffsets nextOffsets) {
            this.records = records.iterator();
            this.nextOffsets = nextOffsets;
        }

        private void decode(Decoder decoder) {
            while (nextUndecoded != null || records.hasNext()) {
                ConsumerRecord<byte[], byte[]> record = nextUndecoded == null ? records.next() : nextUndecoded;
                nextUndecoded = record;
                ChangeDecoder.DecodedRecord decodedRecord = decoder.decode(record, polledAtNanos);
                if (decodedRecord != null) {
                    decodedRecords.add(decodedRecord);
                    oldestTimestamp = Math.min(oldestTimestamp, record.timestamp());
                }
                nextUndecoded = null;
            }
        }

        /** Returns the decoded records; those of one partition are in the order of its offsets. */
        List<ChangeDecoder.DecodedRecord> decodedRecords() {
            return decodedRecords;
        }

        /** Returns the earliest timestamp of the decoded records, in ms; {@link Long#MAX_VALUE} without records. */
        long oldestTimestamp() {
            return oldestTimestamp;
        }

        /** Returns the offsets to read after this batch. */
        NextOffsets nextOffsets() {
            return nextOffsets;
        }
    }

    /**
     * @param consumers creates consumers without a group that read committed records only
     */
    ChangePoller(Supplier<Consumer<byte[], byte[]>> consumers, Decoder decoder) {
        this.consumers = consumers;
        this.decoder = decoder;
    }

    /**
     * Returns the batch that is not acknowledged yet, or polls the next one. Returns null if the offsets have not
     * advanced. The batch is empty if they advanced only over transaction markers.
     *
     * @param from the next offsets to read; a new consumer begins there
     * @param timeout the longest wait for records
     */
    @Nullable
    Batch unacknowledgedOrNext(NextOffsets from, Duration timeout) {
        Batch batch = currentBatch == null ? poll(from, timeout) : currentBatch;
        currentBatch = batch;
        if (batch != null) {
            batch.decode(decoder);
        }
        return batch;
    }

    private @Nullable Batch poll(NextOffsets from, Duration timeout) {
        Consumer<byte[], byte[]> openConsumer = consumer;
        if (openConsumer == null) {
            openConsumer = consumers.get();
            consumer = openConsumer;
            openConsumer.assign(from.byPartition().keySet());
            from.byPartition().forEach(openConsumer::seek);
        }
        ConsumerRecords<byte[], byte[]> records = openConsumer.poll(timeout);
        wasLastPollFull = records.count() >= FULL_BATCH;
        // The positions, because they include transaction markers, which are no records.
        Map<TopicPartition, Long> positions = new HashMap<>();
        for (TopicPartition partition : from.byPartition().keySet()) {
            positions.put(partition, openConsumer.position(partition));
        }
        return positions.equals(from.byPartition()) ? null : new Batch(records, new NextOffsets(positions));
    }

    /** Acknowledges the current batch, so that the next call polls. */
    void acknowledge() {
        currentBatch = null;
    }

    /** Whether the last poll returned so many records that the index seems to lag. */
    boolean wasLastPollFull() {
        return wasLastPollFull;
    }

    /** Closes the consumer. The next poll creates another one. */
    void disconnect() {
        Consumer<byte[], byte[]> openConsumer = consumer;
        consumer = null;
        if (openConsumer != null) {
            PlainConsumers.close(openConsumer);
        }
    }
}

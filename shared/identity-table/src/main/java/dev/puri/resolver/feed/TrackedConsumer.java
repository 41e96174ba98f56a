package dev.puri.resolver.feed;

import dev.puri.projection.TimestampInterceptor;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongConsumer;
import java.util.function.ObjLongConsumer;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * The consumer of Kafka Streams' global thread. It reports the offset up to which the thread has processed each
 * partition. The offset after the last record is not enough: transaction markers take offsets too, so the table would
 * never reach the end of its topic.
 *
 * <p>The thread polls, processes the records, and polls again. So at each poll it has processed all earlier records.
 * The same holds when it asks for its position, which it does only during the restore.
 *
 * <p>During the restore of a partition, another thread polls ahead ({@link ReadAhead}). Kafka's consumer fetches the
 * next part of a partition only when the previous part is used up. Since Kafka Streams restores one partition after the
 * other, it would otherwise wait for each fetch.
 */
class TrackedConsumer extends KafkaConsumer<byte[], byte[]> {
    /** The timeout of a poll ahead, so that the read-ahead thread can be stopped soon. */
    private static final Duration POLL_AHEAD_TIMEOUT = Duration.ofMillis(100);

    private final ObjLongConsumer<TopicPartition> processed;
    private final LongConsumer offsetsToRead;
    private final Runnable idle;
    private final Map<TopicPartition, Long> nextOffsets = new HashMap<>();

    /** The end offsets of the partitions that are not restored yet. */
    private final Map<TopicPartition, Long> ends = new HashMap<>();

    /** The partition whose restore begins with the next poll; null if the next poll begins no restore. */
    private @Nullable TopicPartition nextToRestore;

    private @Nullable ReadAhead readAhead;

    /**
     * @param processed receives a partition and an offset; all records before this offset are processed
     * @param offsetsToRead receives, before the restore, the total number of offsets to read in all partitions
     * @param idle called after each poll that returned no records
     */
    TrackedConsumer(
            Map<String, Object> config,
            ObjLongConsumer<TopicPartition> processed,
            LongConsumer offsetsToRead,
            Runnable idle) {
        super(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        this.processed = processed;
        this.offsetsToRead = offsetsToRead;
        this.idle = idle;
    }

    /** Kafka Streams calls this method once for all partitions, before the restore. */
    @Override
    public Map<TopicPartition, Long> endOffsets(Collection<TopicPartition> partitions) {
        freeConsumer();
        Map<TopicPartition, Long> endOffsets = brokersEndOffsets(partitions);
        offsetsToRead.accept(sum(endOffsets) - sum(beginningOffsets(partitions)));
        ends.putAll(endOffsets);
        return endOffsets;
    }

    // The calls of Kafka's consumer that need brokers. Tests override them.

    Map<TopicPartition, Long> brokersEndOffsets(Collection<TopicPartition> partitions) {
        return super.endOffsets(partitions);
    }

    ConsumerRecords<byte[], byte[]> pollBrokers(Duration timeout) {
        return super.poll(timeout);
    }

    long consumerPosition(TopicPartition partition) {
        return super.position(partition);
    }

    private static long sum(Map<TopicPartition, Long> offsets) {
        return offsets.values().stream().mapToLong(Long::longValue).sum();
    }

    @Override
    public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
        nextOffsets.forEach(processed::accept);
        nextOffsets.clear();
        ConsumerRecords<byte[], byte[]> records = pollRecords(timeout);
        records.nextOffsets().forEach((partition, next) -> nextOffsets.put(partition, next.offset()));
        if (records.isEmpty()) {
            idle.run();
        }
        return records;
    }

    private ConsumerRecords<byte[], byte[]> pollRecords(Duration timeout) {
        TopicPartition starting = nextToRestore;
        if (starting != null) {
            nextToRestore = null;
            long end = Objects.requireNonNull(ends.remove(starting));
            readAhead = new ReadAhead(starting, end, new PlainPoll(starting));
        }
        if (readAhead != null) {
            ConsumerRecords<byte[], byte[]> records = readAhead.take(timeout.toMillis());
            if (records != null) {
                return records;
            }
            readAhead = null;
        }
        return TimestampInterceptor.withTimestamps(pollBrokers(timeout));
    }

    /** Kafka Streams assigns one partition to restore it, and all partitions after the restore. */
    @Override
    public void assign(Collection<TopicPartition> partitions) {
        freeConsumer();
        super.assign(partitions);
        TopicPartition only = partitions.size() == 1 ? partitions.iterator().next() : null;
        nextToRestore = only != null && ends.containsKey(only) ? only : null;
    }

    @Override
    public void seek(TopicPartition partition, long offset) {
        freeConsumer();
        super.seek(partition, offset);
    }

    @Override
    public void seekToBeginning(Collection<TopicPartition> partitions) {
        freeConsumer();
        super.seekToBeginning(partitions);
    }

    @Override
    public void unsubscribe() {
        freeConsumer();
        super.unsubscribe();
    }

    @Override
    public void close() {
        freeConsumer();
        super.close();
    }

    @Override
    public void close(CloseOptions options) {
        freeConsumer();
        super.close(options);
    }

    /** Takes the consumer back from {@link ReadAhead}, and seeks to the position of this thread. */
    private void freeConsumer() {
        ReadAhead stopped = readAhead;
        if (stopped != null) {
            readAhead = null;
            stopped.stop();
            super.seek(stopped.partition(), stopped.position());
        }
    }

    /** Polls without reports of processed offsets. */
    private final class PlainPoll implements ReadAhead.Source {
        private final TopicPartition partition;

        PlainPoll(TopicPartition partition) {
            this.partition = partition;
        }

        @Override
        public ConsumerRecords<byte[], byte[]> poll() {
            return TimestampInterceptor.withTimestamps(pollBrokers(POLL_AHEAD_TIMEOUT));
        }

        @Override
        public long position() {
            return consumerPosition(partition);
        }
    }

    @Override
    public long position(TopicPartition partition) {
        ReadAhead current = readAhead;
        long position = current == null || !current.partition().equals(partition)
                ? consumerPosition(partition)
                : current.position();
        // This method reports the offset, so the next poll need not.
        nextOffsets.remove(partition);
        processed.accept(partition, position);
        return position;
    }
}

package dev.puri.resolver.feed;

import dev.puri.tail.RecordTimes;
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
 * The consumer of Kafka Streams' global thread. It reports the offsets up to which records have been processed.
 * Counting records is not enough: transaction markers take offsets too, so the table would never reach the end of its
 * topic.
 *
 * <p>The thread polls, processes, and polls again. So at each poll it has processed all earlier records; likewise when
 * it asks for its position, which it does at restore only.
 *
 * <p>While a partition is restored, another thread polls ahead ({@link ReadAhead}): Kafka's consumer fetches the next
 * part of a partition when the one before is used up, so a restore of one partition after the other would wait for each
 * part.
 */
final class TrackedConsumer extends KafkaConsumer<byte[], byte[]> {
    /** A bound for each poll ahead, so that the consumer is soon free for other calls. */
    private static final Duration LOOK = Duration.ofMillis(100);

    private final ObjLongConsumer<TopicPartition> processed;
    private final LongConsumer ahead;
    private final Runnable idle;
    private final Map<TopicPartition, Long> polled = new HashMap<>();

    /** The ends of partitions that are still to be restored. */
    private final Map<TopicPartition, Long> ends = new HashMap<>();

    /** The partition whose restore comes next; null once it has begun. */
    private @Nullable TopicPartition restoring;

    private @Nullable ReadAhead readAhead;

    /**
     * @param processed receives each partition with the offset before which all records are processed
     * @param ahead receives the number of offsets to read, before the restore
     * @param idle called after each poll that returned nothing
     */
    TrackedConsumer(
            Map<String, Object> config, ObjLongConsumer<TopicPartition> processed, LongConsumer ahead, Runnable idle) {
        super(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        this.processed = processed;
        this.ahead = ahead;
        this.idle = idle;
    }

    /** Kafka Streams asks for the ends of all partitions when it begins to restore. */
    @Override
    public Map<TopicPartition, Long> endOffsets(Collection<TopicPartition> partitions) {
        freeConsumer();
        Map<TopicPartition, Long> found = super.endOffsets(partitions);
        ahead.accept(sum(found) - sum(beginningOffsets(partitions)));
        ends.putAll(found);
        return found;
    }

    private static long sum(Map<TopicPartition, Long> offsets) {
        return offsets.values().stream().mapToLong(Long::longValue).sum();
    }

    @Override
    public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
        polled.forEach(processed::accept);
        polled.clear();
        ConsumerRecords<byte[], byte[]> records = next(timeout);
        records.nextOffsets().forEach((partition, next) -> polled.put(partition, next.offset()));
        if (records.isEmpty()) {
            idle.run();
        }
        return records;
    }

    private ConsumerRecords<byte[], byte[]> next(Duration timeout) {
        TopicPartition begun = restoring;
        if (begun != null) {
            restoring = null;
            long end = Objects.requireNonNull(ends.remove(begun));
            readAhead = new ReadAhead(begun, end, new Ahead(begun));
        }
        if (readAhead != null) {
            ConsumerRecords<byte[], byte[]> records = readAhead.take(timeout.toMillis());
            if (records != null) {
                return records;
            }
            readAhead = null;
        }
        return RecordTimes.withTimes(super.poll(timeout));
    }

    /** One partition is restored, or all are read. */
    @Override
    public void assign(Collection<TopicPartition> partitions) {
        freeConsumer();
        super.assign(partitions);
        TopicPartition only = partitions.size() == 1 ? partitions.iterator().next() : null;
        restoring = only != null && ends.containsKey(only) ? only : null;
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
        ReadAhead freed = readAhead;
        if (freed != null) {
            readAhead = null;
            freed.stop();
            super.seek(freed.partition(), freed.position());
        }
    }

    /** The plain consumer, without reports of processed offsets. */
    private final class Ahead implements ReadAhead.Source {
        private final TopicPartition partition;

        Ahead(TopicPartition partition) {
            this.partition = partition;
        }

        @Override
        public ConsumerRecords<byte[], byte[]> poll() {
            return RecordTimes.withTimes(TrackedConsumer.super.poll(LOOK));
        }

        @Override
        public long position() {
            return TrackedConsumer.super.position(partition);
        }
    }

    @Override
    public long position(TopicPartition partition) {
        ReadAhead ahead = readAhead;
        long position =
                ahead == null || !ahead.partition().equals(partition) ? super.position(partition) : ahead.position();
        // The next poll need not report this offset again.
        polled.remove(partition);
        processed.accept(partition, position);
        return position;
    }
}

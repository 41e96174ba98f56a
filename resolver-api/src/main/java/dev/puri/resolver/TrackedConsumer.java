package dev.puri.resolver;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import java.util.function.ObjLongConsumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * The global thread's consumer, telling how far its records have been processed. Records alone do not
 * tell: transaction markers take offsets too, so a table that counted records would never reach the
 * end of its topic.
 *
 * <p>The thread polls, processes, and polls again: so when it polls, all that it got before has been
 * processed, and when it asks for its position (it does so at restore only), likewise.
 */
final class TrackedConsumer extends KafkaConsumer<byte[], byte[]> {
    private final ObjLongConsumer<TopicPartition> processed;
    private final LongConsumer ahead;
    private final Map<TopicPartition, Long> polled = new HashMap<>();

    /**
     * @param processed told of each partition and the offset before which all of it is processed
     * @param ahead told before anything is read how many offsets there are to be passed
     */
    TrackedConsumer(Map<String, Object> config, ObjLongConsumer<TopicPartition> processed, LongConsumer ahead) {
        super(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        this.processed = processed;
        this.ahead = ahead;
    }

    /** Kafka Streams asks for the ends of all partitions when it begins to restore. */
    @Override
    public Map<TopicPartition, Long> endOffsets(Collection<TopicPartition> partitions) {
        Map<TopicPartition, Long> ends = super.endOffsets(partitions);
        ahead.accept(sum(ends) - sum(beginningOffsets(partitions)));
        return ends;
    }

    private static long sum(Map<TopicPartition, Long> offsets) {
        return offsets.values().stream().mapToLong(Long::longValue).sum();
    }

    @Override
    public ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
        polled.forEach(processed::accept);
        polled.clear();
        ConsumerRecords<byte[], byte[]> records = super.poll(timeout);
        records.nextOffsets().forEach((partition, next) -> polled.put(partition, next.offset()));
        return withTimes(records);
    }

    @Override
    public long position(TopicPartition partition) {
        long position = super.position(partition);
        processed.accept(partition, position);
        return position;
    }

    /**
     * The same records, those without a time stamped with the beginning of time. Kafka Streams throws
     * at a record without one, which would end the global thread at every start.
     */
    static ConsumerRecords<byte[], byte[]> withTimes(ConsumerRecords<byte[], byte[]> records) {
        boolean allTimed = true;
        for (ConsumerRecord<byte[], byte[]> record : records) {
            allTimed &= record.timestamp() >= 0;
        }
        if (allTimed) {
            return records;
        }
        Map<TopicPartition, List<ConsumerRecord<byte[], byte[]>>> timed = new HashMap<>();
        for (TopicPartition partition : records.partitions()) {
            timed.put(
                    partition,
                    records.records(partition).stream()
                            .map(TrackedConsumer::withTime)
                            .toList());
        }
        return new ConsumerRecords<>(timed, records.nextOffsets());
    }

    private static ConsumerRecord<byte[], byte[]> withTime(ConsumerRecord<byte[], byte[]> record) {
        return new ConsumerRecord<>(
                record.topic(),
                record.partition(),
                record.offset(),
                Math.max(0, record.timestamp()),
                record.timestampType(),
                record.serializedKeySize(),
                record.serializedValueSize(),
                record.key(),
                record.value(),
                record.headers(),
                record.leaderEpoch());
    }
}

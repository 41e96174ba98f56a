package dev.puri.projection;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerInterceptor;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * Sets the timestamp 0 on records that have no timestamp. Kafka Streams does not call the timestamp extractor for
 * records of a global store, and a negative timestamp stops its global thread, again after each restart. The topology
 * configures this class as an interceptor of the global store's consumer; the resolver's consumer calls
 * {@link #withTimestamps}.
 */
public final class TimestampInterceptor implements ConsumerInterceptor<byte[], byte[]> {
    /** Called by Kafka, which is configured with the name of this class. */
    public TimestampInterceptor() {}

    @Override
    public ConsumerRecords<byte[], byte[]> onConsume(ConsumerRecords<byte[], byte[]> records) {
        return withTimestamps(records);
    }

    /** Returns the same records, with the timestamp 0 on those that have none. */
    public static ConsumerRecords<byte[], byte[]> withTimestamps(ConsumerRecords<byte[], byte[]> records) {
        boolean haveTimestamps = true;
        for (ConsumerRecord<byte[], byte[]> record : records) {
            haveTimestamps &= record.timestamp() >= 0;
        }
        if (haveTimestamps) {
            return records;
        }
        Map<TopicPartition, List<ConsumerRecord<byte[], byte[]>>> recordsByPartition = new HashMap<>();
        for (TopicPartition partition : records.partitions()) {
            List<ConsumerRecord<byte[], byte[]>> stamped = new ArrayList<>();
            for (ConsumerRecord<byte[], byte[]> record : records.records(partition)) {
                stamped.add(record.timestamp() >= 0 ? record : withTimestampZero(record));
            }
            recordsByPartition.put(partition, stamped);
        }
        return new ConsumerRecords<>(recordsByPartition, records.nextOffsets());
    }

    private static ConsumerRecord<byte[], byte[]> withTimestampZero(ConsumerRecord<byte[], byte[]> record) {
        return new ConsumerRecord<>(
                record.topic(),
                record.partition(),
                record.offset(),
                0,
                record.timestampType(),
                record.serializedKeySize(),
                record.serializedValueSize(),
                record.key(),
                record.value(),
                record.headers(),
                record.leaderEpoch());
    }

    @Override
    public void onCommit(Map<TopicPartition, OffsetAndMetadata> offsets) {}

    @Override
    public void close() {}

    @Override
    public void configure(Map<String, ?> configs) {}
}

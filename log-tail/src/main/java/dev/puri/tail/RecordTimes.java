package dev.puri.tail;

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
 * Gives the records of a global store's consumer that have no timestamp the timestamp 0. Kafka Streams never asks a
 * timestamp extractor for the records of a global store, and a negative timestamp ends its global thread, at every
 * start again. An interceptor of the topology's consumer; the resolver's consumer calls {@link #withTimes}.
 */
public final class RecordTimes implements ConsumerInterceptor<byte[], byte[]> {
    /** Kafka creates it by name. */
    public RecordTimes() {}

    @Override
    public ConsumerRecords<byte[], byte[]> onConsume(ConsumerRecords<byte[], byte[]> records) {
        return withTimes(records);
    }

    /** The same records; those without a timestamp have the timestamp 0. */
    public static ConsumerRecords<byte[], byte[]> withTimes(ConsumerRecords<byte[], byte[]> records) {
        boolean hasTimes = true;
        for (ConsumerRecord<byte[], byte[]> record : records) {
            hasTimes &= record.timestamp() >= 0;
        }
        if (hasTimes) {
            return records;
        }
        Map<TopicPartition, List<ConsumerRecord<byte[], byte[]>>> timed = new HashMap<>();
        for (TopicPartition partition : records.partitions()) {
            List<ConsumerRecord<byte[], byte[]>> list = new ArrayList<>();
            for (ConsumerRecord<byte[], byte[]> record : records.records(partition)) {
                list.add(record.timestamp() >= 0 ? record : withTime(record));
            }
            timed.put(partition, list);
        }
        return new ConsumerRecords<>(timed, records.nextOffsets());
    }

    private static ConsumerRecord<byte[], byte[]> withTime(ConsumerRecord<byte[], byte[]> record) {
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

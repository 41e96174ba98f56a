package dev.puri.projection;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.Test;

final class TimestampInterceptorTest {
    private static final TopicPartition PARTITION = new TopicPartition("t", 0);

    @Test
    void setsTimestampZeroOnARecordWithout() {
        ConsumerRecord<byte[], byte[]> timed = record(1, 1000);
        ConsumerRecords<byte[], byte[]> records = records(timed, record(2, -1));

        List<ConsumerRecord<byte[], byte[]>> stamped =
                TimestampInterceptor.withTimestamps(records).records(PARTITION);

        assertThat(stamped).extracting(ConsumerRecord::timestamp).containsExactly(1000L, 0L);
        assertThat(stamped).extracting(ConsumerRecord::offset).containsExactly(1L, 2L);
        assertThat(stamped).extracting(ConsumerRecord::value).containsOnly(new byte[] {4});
        assertThat(TimestampInterceptor.withTimestamps(records).nextOffsets()).isEqualTo(records.nextOffsets());
    }

    @Test
    void returnsRecordsWithTimestampsUnchanged() {
        ConsumerRecords<byte[], byte[]> records = records(record(1, 0), record(2, 5));

        assertThat(TimestampInterceptor.withTimestamps(records)).isSameAs(records);
    }

    @SafeVarargs
    private static ConsumerRecords<byte[], byte[]> records(ConsumerRecord<byte[], byte[]>... records) {
        return new ConsumerRecords<>(Map.of(PARTITION, List.of(records)), Map.of(PARTITION, new OffsetAndMetadata(3)));
    }

    private static ConsumerRecord<byte[], byte[]> record(long offset, long time) {
        return new ConsumerRecord<>(
                "t",
                0,
                offset,
                time,
                TimestampType.CREATE_TIME,
                1,
                1,
                new byte[] {3},
                new byte[] {4},
                new RecordHeaders(),
                Optional.empty());
    }
}

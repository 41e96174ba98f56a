package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.cli.io.LogReader;
import dev.puri.cli.io.RateLimiter;
import dev.puri.schemas.avro.EventPosition;
import dev.puri.schemas.avro.Rejection;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.InMemorySchemaRegistry;
import dev.puri.schemas.serde.RecordWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RejectionLogTest {
    private static final Instant START = Instant.parse("2026-03-01T10:00:00Z");
    private static final TopicPartition PARTITION = new TopicPartition(Topics.REJECTIONS, 0);

    private final InMemorySchemaRegistry schemas = new InMemorySchemaRegistry();
    private final RecordWriter<Rejection> writer = RecordWriter.of(Rejection.class);
    private final int schemaId = schemas.register("rejections", writer.schema());
    private final List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
    private final List<String> warnings = new ArrayList<>();
    private int recordsRead;

    @Test
    void theLatestRejectionsAreReadWithoutTheBeginningOfTheTopic() {
        for (int minute = 0; minute < 10_000; minute++) {
            add(Duration.ofMinutes(minute));
        }

        assertThat(latest(RejectionFilter.NONE, 20))
                .hasSize(20)
                .startsWith(9_980L)
                .endsWith(9_999L);
        assertThat(recordsRead)
                .as("40 records, which include the 5 minutes before the oldest")
                .isEqualTo(40);
    }

    @Test
    void anUnreadableRecordIsSkippedAndReportedWithItsPosition() {
        add(Duration.ZERO);
        add(Duration.ofMinutes(1), new byte[] {1, 2, 3});
        add(Duration.ofMinutes(2));

        assertThat(latest(RejectionFilter.NONE, 20)).containsExactly(0L, 2L);
        assertThat(warnings).singleElement().asString().contains("unreadable", PARTITION + "@1: ");
    }

    /** Returns the offsets of the latest rejections. */
    private List<Long> latest(RejectionFilter filter, int count) {
        try (LogReader reader = new LogReader(new FakeConsumer(), Duration.ofSeconds(30), new RateLimiter(null));
                RejectionLog log = new RejectionLog(reader, schemas, warnings::add)) {
            return log.latest(filter, count).get().stream()
                    .map(StoredRejection::offset)
                    .toList();
        }
    }

    private void add(Duration age) {
        EventPosition position = new EventPosition(Topics.EVENTS, 0, (long) records.size());
        add(age, writer.encode(schemaId, Rejections.taken("a:b:c", null, position, START.plus(age))));
    }

    private void add(Duration age, byte[] value) {
        records.add(new ConsumerRecord<>(
                PARTITION.topic(),
                PARTITION.partition(),
                records.size(),
                START.plus(age).toEpochMilli(),
                TimestampType.CREATE_TIME,
                0,
                0,
                new byte[0],
                value,
                new RecordHeaders(),
                Optional.empty()));
    }

    private final class FakeConsumer extends MockConsumer<byte[], byte[]> {
        FakeConsumer() {
            super("earliest");
            updatePartitions(
                    PARTITION.topic(),
                    List.of(new PartitionInfo(PARTITION.topic(), 0, Node.noNode(), new Node[0], new Node[0])));
            updateBeginningOffsets(Map.of(PARTITION, 0L));
            updateEndOffsets(Map.of(PARTITION, (long) records.size()));
        }

        @Override
        public synchronized ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
            records.subList((int) position(PARTITION), records.size()).forEach(this::addRecord);
            ConsumerRecords<byte[], byte[]> polled = super.poll(Duration.ZERO);
            recordsRead += polled.count();
            return polled;
        }

        @Override
        public synchronized Map<TopicPartition, OffsetAndTimestamp> offsetsForTimes(
                Map<TopicPartition, Long> timestamps) {
            return timestamps.keySet().stream()
                    .collect(Collectors.toMap(
                            partition -> partition, partition -> firstSince(timestamps.get(partition))));
        }

        private OffsetAndTimestamp firstSince(long timestamp) {
            int offset = IntStream.range(0, records.size())
                    .filter(i -> records.get(i).timestamp() >= timestamp)
                    .findFirst()
                    .orElse(records.size());
            return new OffsetAndTimestamp(offset, timestamp);
        }

        @Override
        public synchronized Map<TopicPartition, Long> beginningOffsets(Collection<TopicPartition> partitions) {
            return Map.of(PARTITION, 0L);
        }

        @Override
        public synchronized Map<TopicPartition, Long> endOffsets(Collection<TopicPartition> partitions) {
            return Map.of(PARTITION, (long) records.size());
        }
    }
}

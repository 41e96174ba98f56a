package dev.puri.resolver.feed;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls the consumer as Kafka Streams does. Kafka's consumer assigns and seeks without a broker. */
@Timeout(60)
final class TrackedConsumerTest {
    private static final TopicPartition FIRST = new TopicPartition("t", 0);
    private static final TopicPartition SECOND = new TopicPartition("t", 1);
    private static final Duration LONG = Duration.ofSeconds(30);

    private final List<String> processed = new ArrayList<>();
    private final List<Long> offsetsToRead = new ArrayList<>();
    private final AtomicInteger idlePolls = new AtomicInteger();
    private final FakeConsumer consumer = new FakeConsumer();

    /** Each poll returns one record of each assigned partition; a transaction marker follows each record. */
    private final class FakeConsumer extends TrackedConsumer {
        private final Map<TopicPartition, Long> ends = new ConcurrentHashMap<>();
        private final Map<TopicPartition, Long> fetched = new ConcurrentHashMap<>();

        FakeConsumer() {
            super(
                    Map.of("bootstrap.servers", "localhost:1"),
                    (partition, offset) -> processed.add(partition.partition() + "@" + offset),
                    offsetsToRead::add,
                    idlePolls::incrementAndGet);
        }

        @Override
        Map<TopicPartition, Long> brokersEndOffsets(Collection<TopicPartition> partitions) {
            Map<TopicPartition, Long> offsets = new HashMap<>(ends);
            offsets.keySet().retainAll(partitions);
            return offsets;
        }

        @Override
        public Map<TopicPartition, Long> beginningOffsets(Collection<TopicPartition> partitions) {
            Map<TopicPartition, Long> offsets = new HashMap<>();
            partitions.forEach(partition -> offsets.put(partition, 0L));
            return offsets;
        }

        @Override
        ConsumerRecords<byte[], byte[]> pollBrokers(Duration timeout) {
            Map<TopicPartition, List<ConsumerRecord<byte[], byte[]>>> records = new HashMap<>();
            Map<TopicPartition, OffsetAndMetadata> next = new HashMap<>();
            for (TopicPartition partition : assignment()) {
                long offset = consumerPosition(partition);
                if (offset < ends.getOrDefault(partition, 0L)) {
                    records.put(
                            partition,
                            List.of(new ConsumerRecord<>(
                                    partition.topic(), partition.partition(), offset, new byte[1], new byte[1])));
                    next.put(partition, new OffsetAndMetadata(offset + 2, Optional.empty(), ""));
                    fetched.put(partition, offset + 2);
                }
            }
            return new ConsumerRecords<>(records, next);
        }

        @Override
        long consumerPosition(TopicPartition partition) {
            return fetched.computeIfAbsent(partition, super::consumerPosition);
        }

        /** Like Kafka's consumer, fetches from the offset of the last seek. */
        @Override
        public void seek(TopicPartition partition, long offset) {
            super.seek(partition, offset);
            fetched.remove(partition);
        }

        /** Returns the offset to which this class has set Kafka's consumer. */
        long soughtOffset(TopicPartition partition) {
            return super.consumerPosition(partition);
        }
    }

    @AfterEach
    void close() {
        consumer.close();
    }

    @Test
    void recordsCountAsProcessedAtTheNextPoll() {
        consumer.ends.put(FIRST, 4L);
        assignAndSeek(FIRST);

        assertThat(consumer.poll(LONG).count()).isEqualTo(1);
        assertThat(processed).isEmpty();
        consumer.poll(LONG);

        // The marker at offset 1 counts too.
        assertThat(processed).containsExactly("0@2");
    }

    @Test
    void aPositionCountsAsProcessed() {
        consumer.ends.put(FIRST, 2L);
        assignAndSeek(FIRST);
        consumer.poll(LONG);

        assertThat(consumer.position(FIRST)).isEqualTo(2);

        assertThat(processed).containsExactly("0@2");
        consumer.poll(LONG);
        assertThat(processed).containsExactly("0@2");
    }

    @Test
    void onlyAnEmptyPollIsIdle() {
        consumer.ends.put(FIRST, 2L);
        assignAndSeek(FIRST);

        consumer.poll(LONG);
        assertThat(idlePolls).hasValue(0);
        consumer.poll(LONG);

        assertThat(idlePolls).hasValue(1);
    }

    @Test
    void reportsTheOffsetsToReadBeforeTheRestore() {
        consumer.ends.put(FIRST, 40L);
        consumer.ends.put(SECOND, 2L);

        consumer.endOffsets(List.of(FIRST, SECOND));

        assertThat(offsetsToRead).containsExactly(42L);
    }

    @Test
    void restoresEachPartitionUpToItsEndThroughTheReadAhead() {
        consumer.ends.put(FIRST, 100L);
        consumer.ends.put(SECOND, 6L);
        consumer.endOffsets(List.of(FIRST, SECOND));

        assertThat(restore(FIRST, 100)).hasSize(50).isSorted();
        assertThat(restore(SECOND, 6)).containsExactly(0L, 2L, 4L);

        assertThat(processed).contains("0@2", "0@100", "1@6");
    }

    /** The read-ahead may have polled more records than the restore has taken. */
    @Test
    void aRestoreThatEndsEarlyContinuesAfterTheRecordsThatItHasTaken() {
        consumer.ends.put(FIRST, 100L);
        consumer.ends.put(SECOND, 100L);
        consumer.endOffsets(List.of(FIRST, SECOND));
        assignAndSeek(FIRST);
        takeRecord();
        takeRecord();
        assertThat(consumer.position(FIRST)).isEqualTo(4);

        consumer.assign(List.of(FIRST, SECOND));

        assertThat(consumer.soughtOffset(FIRST)).isEqualTo(4);
    }

    private List<Long> restore(TopicPartition partition, long end) {
        assignAndSeek(partition);
        List<Long> offsets = new ArrayList<>();
        while (consumer.position(partition) < end) {
            consumer.poll(LONG).forEach(record -> offsets.add(record.offset()));
        }
        return offsets;
    }

    private void takeRecord() {
        assertThat(consumer.poll(LONG).count()).isEqualTo(1);
    }

    private void assignAndSeek(TopicPartition partition) {
        consumer.assign(List.of(partition));
        consumer.seek(partition, 0);
    }
}

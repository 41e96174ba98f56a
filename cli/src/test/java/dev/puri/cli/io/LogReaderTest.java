package dev.puri.cli.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Topics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LogReaderTest {
    private static final TopicPartition FIRST = new TopicPartition(Topics.EVENTS, 0);
    private static final TopicPartition SECOND = new TopicPartition(Topics.EVENTS, 1);

    private final Map<TopicPartition, Log> logs = Map.of(FIRST, new Log(), SECOND, new Log());
    private final FakeConsumer consumer = new FakeConsumer();
    private final List<Position> read = new ArrayList<>();
    private final LogReader reader = reader(Duration.ofSeconds(30));

    /** Called before each poll. */
    private Runnable onPoll = () -> {};

    @Test
    void readsAcrossGapsOfCompactionAndMarkersOfTransactions() {
        log(FIRST).write(10, 0, 1, 5, 7);
        log(SECOND).write(2, 0);

        reader.read(Map.of(FIRST, 1L, SECOND, 0L), this::add);

        assertThat(read).containsExactlyInAnyOrder(at(FIRST, 1), at(FIRST, 5), at(FIRST, 7), at(SECOND, 0));
    }

    @Test
    void endsAtTheEndOffsetOfTheStartAndContinuesThere() {
        log(FIRST).write(3, 0, 2);
        onPoll = () -> log(FIRST).write(6, 4);

        long next = reader.read(FIRST, 0, this::add);
        assertThat(read).containsExactly(at(FIRST, 0), at(FIRST, 2));

        assertThat(reader.read(FIRST, next, this::add)).isEqualTo(6);
        assertThat(read).endsWith(at(FIRST, 2), at(FIRST, 4));
        onPoll = () -> {
            throw new AssertionError("nothing is left");
        };
        assertThat(reader.read(FIRST, 6, this::add)).isEqualTo(6);
    }

    @Test
    void findsTheRecordsOfPositionsThatHaveOne() {
        log(FIRST).write(10, 2, 5, 8);
        log(FIRST).begin = 2;

        reader.find(
                List.of(
                        at(FIRST, 0),
                        at(FIRST, 4),
                        at(FIRST, 5),
                        at(FIRST, 9),
                        at(FIRST, 99),
                        Position.parse("gone-0-0")),
                this::add);

        assertThat(read).containsExactly(at(FIRST, 5));
    }

    @Test
    void failsIfTheBrokersDeliverNothing() {
        log(FIRST).write(3, 0, 1, 2);
        consumer.isAway = true;

        assertThatThrownBy(() -> reader(Duration.ZERO).read(FIRST, 1, this::add))
                .isInstanceOf(TimeoutException.class)
                .hasMessage(FIRST + " cannot be read further than offset 1 of 3");
        assertThatThrownBy(() -> reader(Duration.ZERO).find(List.of(at(FIRST, 1)), this::add))
                .isInstanceOf(TimeoutException.class)
                .hasMessage(FIRST + " cannot be read at offset 1");
        assertThat(read).isEmpty();
    }

    @Test
    void failsIfTheTopicIsCreatedAgainWithFewerRecords() {
        log(FIRST).write(100, 98, 99);
        onPoll = () -> log(FIRST).replace(1, 0);

        assertThatThrownBy(() -> reader(Duration.ZERO).read(FIRST, 98, this::add))
                .isInstanceOf(TimeoutException.class)
                .hasMessageContaining("of 100");
    }

    /** Kafka refuses negative times. */
    @Test
    void aTimeBefore1970IsThatOfTheFirstRecord() {
        log(FIRST).write(10, 2, 5);

        assertThat(reader.offsetsAt(Map.of(FIRST, -1L))).isEqualTo(Map.of(FIRST, 2L));
    }

    private LogReader reader(Duration timeout) {
        return new LogReader(consumer, timeout, new RateLimiter(null));
    }

    private void add(ConsumerRecord<byte[], byte[]> record) {
        read.add(LogReader.positionOf(record));
    }

    private static Position at(TopicPartition partition, long offset) {
        return new Position(partition.topic(), partition.partition(), offset);
    }

    private Log log(TopicPartition partition) {
        return logs.getOrDefault(partition, new Log());
    }

    /** The offsets of a partition. Those without a record were compacted away, or have a marker. */
    private static final class Log {
        final NavigableSet<Long> records = new TreeSet<>();
        long begin;
        long end;

        void write(long newEnd, long... offsets) {
            for (long offset : offsets) {
                records.add(offset);
            }
            end = newEnd;
        }

        void replace(long newEnd, long... offsets) {
            records.clear();
            write(newEnd, offsets);
        }
    }

    /** Returns at most two records of each partition in a poll. */
    private final class FakeConsumer extends MockConsumer<byte[], byte[]> {
        boolean isAway;

        FakeConsumer() {
            super("earliest");
            List<PartitionInfo> infos = logs.keySet().stream()
                    .map(each ->
                            new PartitionInfo(each.topic(), each.partition(), Node.noNode(), new Node[0], new Node[0]))
                    .toList();
            updatePartitions(Topics.EVENTS, infos);
        }

        @Override
        public synchronized ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
            onPoll.run();
            if (isAway) {
                return ConsumerRecords.empty();
            }
            for (TopicPartition partition : assignment()) {
                Log log = log(partition);
                if (position(partition) > log.end) {
                    seek(partition, log.begin);
                }
                log.records.tailSet(position(partition)).stream()
                        .limit(2)
                        .forEach(offset -> addRecord(new ConsumerRecord<>(
                                partition.topic(), partition.partition(), offset, new byte[0], new byte[0])));
            }
            ConsumerRecords<byte[], byte[]> records = super.poll(Duration.ZERO);
            for (TopicPartition partition : assignment()) {
                Log log = log(partition);
                if (log.records.ceiling(position(partition)) == null && position(partition) < log.end) {
                    seek(partition, log.end);
                }
            }
            return records;
        }

        @Override
        public synchronized Map<TopicPartition, OffsetAndTimestamp> offsetsForTimes(
                Map<TopicPartition, Long> timestamps) {
            return timestamps.entrySet().stream().collect(Collectors.toMap(Map.Entry::getKey, entry -> {
                assertThat(entry.getValue()).isZero();
                return new OffsetAndTimestamp(log(entry.getKey()).records.first(), 0);
            }));
        }

        @Override
        public synchronized Map<TopicPartition, Long> beginningOffsets(Collection<TopicPartition> partitions) {
            return partitions.stream().collect(Collectors.toMap(each -> each, each -> log(each).begin));
        }

        @Override
        public synchronized Map<TopicPartition, Long> endOffsets(Collection<TopicPartition> partitions) {
            return partitions.stream().collect(Collectors.toMap(each -> each, each -> log(each).end));
        }
    }
}

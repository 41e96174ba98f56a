package dev.puri.cli;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Reads committed records of topics by offset or up to the current end. It uses no consumer group. Not thread-safe.
 *
 * <p>Each method throws a {@link TimeoutException} if a broker delivers no record for {@code default.api.timeout.ms}.
 */
final class LogReader implements AutoCloseable {
    /** How much the clocks of brokers and topology may differ. */
    static final Duration CLOCK_TOLERANCE = Duration.ofMinutes(5);

    private static final Duration POLL_TIMEOUT = Duration.ofMillis(100);

    private final Consumer<byte[], byte[]> consumer;
    private final Duration timeout;

    LogReader(CliSettings settings) {
        Map<String, Object> properties = settings.interactiveProperties();
        properties.put("isolation.level", "read_committed");
        properties.put("enable.auto.commit", "false");
        properties.put("allow.auto.create.topics", "false");
        // Records that are deleted while they are read are skipped.
        properties.put("auto.offset.reset", "earliest");
        consumer = new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        timeout = settings.apiTimeout();
    }

    /** Receives records. */
    interface Visitor {
        void visit(ConsumerRecord<byte[], byte[]> record);
    }

    /** Returns the partitions of a topic in their order; empty if the topic does not exist. */
    List<TopicPartition> partitions(String topic) {
        List<PartitionInfo> partitions = consumer.partitionsFor(topic);
        return partitions == null
                ? List.of()
                : partitions.stream()
                        .map(info -> new TopicPartition(topic, info.partition()))
                        .sorted((left, right) -> Integer.compare(left.partition(), right.partition()))
                        .toList();
    }

    /** Returns the names of the existing topics that the principal may describe. */
    Set<String> topics() {
        return Set.copyOf(consumer.listTopics().keySet());
    }

    Map<TopicPartition, Long> beginningOffsets(List<TopicPartition> partitions) {
        return consumer.beginningOffsets(partitions);
    }

    Map<TopicPartition, Long> endOffsets(List<TopicPartition> partitions) {
        return consumer.endOffsets(partitions);
    }

    /**
     * Returns the offset of the first record of each partition whose timestamp is not before the given one, or the end
     * offset if there is no such record.
     *
     * @param timestamps times in ms since the epoch
     */
    Map<TopicPartition, Long> offsetsAt(Map<TopicPartition, Long> timestamps) {
        Map<TopicPartition, Long> offsets = new HashMap<>(consumer.endOffsets(List.copyOf(timestamps.keySet())));
        for (Map.Entry<TopicPartition, OffsetAndTimestamp> found :
                consumer.offsetsForTimes(timestamps).entrySet()) {
            if (found.getValue() != null) {
                offsets.put(found.getKey(), found.getValue().offset());
            }
        }
        return offsets;
    }

    /** Passes the records from the start offsets to the current end offsets to the visitor, in order by partition. */
    void read(Map<TopicPartition, Long> startOffsets, Visitor visitor) {
        if (startOffsets.isEmpty()) {
            return;
        }
        List<TopicPartition> partitions = List.copyOf(startOffsets.keySet());
        consumer.assign(partitions);
        Map<TopicPartition, Long> endOffsets = consumer.endOffsets(partitions);
        List<TopicPartition> unread = new ArrayList<>();
        partitions.forEach(partition -> {
            if (offset(startOffsets, partition) < offset(endOffsets, partition)) {
                unread.add(partition);
            }
        });
        consumer.assign(unread);
        unread.forEach(partition -> consumer.seek(partition, offset(startOffsets, partition)));
        long deadline = System.nanoTime() + timeout.toNanos();
        while (!unread.isEmpty()) {
            ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL_TIMEOUT);
            for (ConsumerRecord<byte[], byte[]> record : records) {
                TopicPartition partition = new TopicPartition(record.topic(), record.partition());
                if (record.offset() < offset(endOffsets, partition)) {
                    visitor.visit(record);
                }
            }
            if (!records.isEmpty()) {
                // After the visitor, which may take long.
                deadline = System.nanoTime() + timeout.toNanos();
            }
            if (unread.removeIf(partition -> consumer.position(partition) >= offset(endOffsets, partition))) {
                consumer.assign(unread);
            } else if (System.nanoTime() > deadline) {
                throw new TimeoutException(unread + " could not be read to the end in time");
            }
        }
    }

    /**
     * Passes the records at the given offsets to the visitor. Offsets without a committed record are skipped: it was
     * deleted, its transaction was aborted, or the topic does not exist any more.
     */
    void find(Map<TopicPartition, ? extends NavigableSet<Long>> offsets, Visitor visitor) {
        offsets.forEach((partition, offsetsToRead) -> {
            if (partitions(partition.topic()).contains(partition)) {
                find(partition, offsetsToRead, visitor);
            }
        });
    }

    private void find(TopicPartition partition, NavigableSet<Long> offsetsToRead, Visitor visitor) {
        List<TopicPartition> only = List.of(partition);
        consumer.assign(only);
        long endOffset = offset(consumer.endOffsets(only), partition);
        Long next = offsetsToRead.ceiling(offset(consumer.beginningOffsets(only), partition));
        while (next != null && next < endOffset) {
            consumer.seek(partition, next);
            long position = next;
            long deadline = System.nanoTime() + timeout.toNanos();
            while (position == next) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL_TIMEOUT)) {
                    if (offsetsToRead.contains(record.offset())) {
                        visitor.visit(record);
                    }
                }
                position = consumer.position(partition);
                if (System.nanoTime() > deadline) {
                    throw new TimeoutException(partition + " could not be read at offset " + next + " in time");
                }
            }
            next = offsetsToRead.ceiling(position);
        }
    }

    private static long offset(Map<TopicPartition, Long> offsets, TopicPartition partition) {
        return offsets.getOrDefault(partition, 0L);
    }

    @Override
    public void close() {
        consumer.close();
    }
}

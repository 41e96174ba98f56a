package dev.puri.cli.io;

import dev.puri.schemas.log.Position;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
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
 * Reads committed records of partitions, from offsets to end offsets or at given offsets. It uses no consumer group.
 * Not thread-safe.
 *
 * <p>End offsets are last stable offsets: before them all transactions have ended. Each method throws a {@link
 * TimeoutException} if the brokers do not answer, or deliver no record for the time-out.
 */
public final class LogReader implements AutoCloseable {
    /** How much the clocks of brokers and topology may differ. */
    public static final Duration CLOCK_TOLERANCE = Duration.ofMinutes(5);

    private static final Duration POLL_TIMEOUT = Duration.ofMillis(100);

    private final Consumer<byte[], byte[]> consumer;
    private final Duration timeout;
    private final RateLimiter limiter;

    /**
     * Receives records.
     *
     * @param <E> the exception that ends the reading
     */
    public interface Visitor<E extends Exception> {
        /** Receives the next record. */
        void visit(ConsumerRecord<byte[], byte[]> record) throws E;
    }

    /**
     * @param consumer one of {@link #consumer}; closed by {@link #close}
     * @param timeout maximum time without a record
     * @param limiter limits and counts the records
     */
    public LogReader(Consumer<byte[], byte[]> consumer, Duration timeout, RateLimiter limiter) {
        this.consumer = consumer;
        this.timeout = timeout;
        this.limiter = limiter;
    }

    /**
     * Opens a reader.
     *
     * @param properties of Kafka clients
     * @param timeout maximum time without a record
     * @param limiter limits and counts the records
     */
    public static LogReader open(Map<String, Object> properties, Duration timeout, RateLimiter limiter) {
        Map<String, Object> config = new HashMap<>(properties);
        // At the end of a partition a fetch waits for new records. Until it ends, it delays the next requests to the
        // same broker, also those for the next partition.
        config.putIfAbsent("fetch.max.wait.ms", "10");
        return new LogReader(consumer(config), timeout, limiter);
    }

    /** Creates a consumer of committed records, without a group. */
    public static Consumer<byte[], byte[]> consumer(Map<String, Object> properties) {
        Map<String, Object> config = new HashMap<>(properties);
        config.put("isolation.level", "read_committed");
        config.put("enable.auto.commit", "false");
        config.put("allow.auto.create.topics", "false");
        // Records that are deleted while they are read are skipped.
        config.put("auto.offset.reset", "earliest");
        return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** Returns the partitions of a topic in their order; empty if the topic does not exist. */
    public List<TopicPartition> partitions(String topic) {
        List<PartitionInfo> partitions = consumer.partitionsFor(topic);
        return partitions == null
                ? List.of()
                : partitions.stream()
                        .map(info -> new TopicPartition(topic, info.partition()))
                        .sorted(Comparator.comparingInt(TopicPartition::partition))
                        .toList();
    }

    /** Returns the names of the existing topics that the principal may describe. */
    public Set<String> topics() {
        return Set.copyOf(consumer.listTopics().keySet());
    }

    /** Returns the offset of the first record that each partition still has. */
    public Map<TopicPartition, Long> beginningOffsets(Collection<TopicPartition> partitions) {
        return consumer.beginningOffsets(partitions);
    }

    /** Returns the offset of the first record that a partition still has. */
    public long beginningOffset(TopicPartition partition) {
        return offset(beginningOffsets(List.of(partition)), partition);
    }

    /** Returns the end offset of each partition. */
    public Map<TopicPartition, Long> endOffsets(Collection<TopicPartition> partitions) {
        return consumer.endOffsets(partitions);
    }

    /** Returns the end offset of a partition. */
    public long endOffset(TopicPartition partition) {
        return offset(endOffsets(List.of(partition)), partition);
    }

    /**
     * Returns the offset of the first record of each partition whose timestamp is not before the given one, or the end
     * offset if there is no such record.
     *
     * @param timestamps times in ms since the epoch; may be negative
     */
    public Map<TopicPartition, Long> offsetsAt(Map<TopicPartition, Long> timestamps) {
        Map<TopicPartition, Long> offsets = new HashMap<>(endOffsets(timestamps.keySet()));
        Map<TopicPartition, Long> notNegative = new HashMap<>(timestamps);
        // Kafka refuses negative times.
        notNegative.replaceAll((partition, timestamp) -> Math.max(0, timestamp));
        for (Map.Entry<TopicPartition, OffsetAndTimestamp> found :
                consumer.offsetsForTimes(notNegative).entrySet()) {
            if (found.getValue() != null) {
                offsets.put(found.getKey(), found.getValue().offset());
            }
        }
        return offsets;
    }

    /** Passes the records from the start offsets to the current end offsets to the visitor, in order by partition. */
    public <E extends Exception> void read(Map<TopicPartition, Long> startOffsets, Visitor<E> visitor) throws E {
        read(startOffsets, endOffsets(startOffsets.keySet()), visitor);
    }

    /**
     * Reads a partition to its current end offset.
     *
     * @return the offset from which the next call continues
     */
    public <E extends Exception> long read(TopicPartition partition, long startOffset, Visitor<E> visitor) throws E {
        long endOffset = endOffset(partition);
        read(Map.of(partition, startOffset), Map.of(partition, endOffset), visitor);
        return Math.max(startOffset, endOffset);
    }

    /**
     * Passes the records from the start offsets to the end offsets to the visitor, in order by partition.
     *
     * @param endOffsets of at least the partitions to read; none is higher than the current one
     */
    public <E extends Exception> void read(
            Map<TopicPartition, Long> startOffsets, Map<TopicPartition, Long> endOffsets, Visitor<E> visitor) throws E {
        List<TopicPartition> unread = new ArrayList<>(startOffsets.keySet());
        unread.removeIf(partition -> offset(startOffsets, partition) >= offset(endOffsets, partition));
        consumer.assign(unread);
        unread.forEach(partition -> consumer.seek(partition, offset(startOffsets, partition)));
        long deadline = System.nanoTime() + timeout.toNanos();
        while (!unread.isEmpty()) {
            ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL_TIMEOUT);
            for (TopicPartition partition : records.partitions()) {
                long endOffset = offset(endOffsets, partition);
                for (ConsumerRecord<byte[], byte[]> record : records.records(partition)) {
                    if (record.offset() < endOffset) {
                        visitor.visit(record);
                    }
                }
            }
            limiter.await(records.count());
            if (!records.isEmpty()) {
                // After the visitor and the limiter, which may take long.
                deadline = System.nanoTime() + timeout.toNanos();
            }
            if (unread.removeIf(partition -> consumer.position(partition) >= offset(endOffsets, partition))) {
                consumer.assign(unread);
            } else if (System.nanoTime() - deadline > 0) {
                TopicPartition first = unread.getFirst();
                throw new TimeoutException(first + " cannot be read further than offset " + consumer.position(first)
                        + " of " + offset(endOffsets, first));
            }
        }
    }

    /**
     * Passes the records at the given offsets to the visitor. Offsets without a committed record are skipped: it was
     * deleted, its transaction was aborted, or the partition does not exist any more.
     */
    public <E extends Exception> void find(
            Map<TopicPartition, ? extends NavigableSet<Long>> offsets, Visitor<E> visitor) throws E {
        for (Map.Entry<TopicPartition, ? extends NavigableSet<Long>> entry : offsets.entrySet()) {
            if (partitions(entry.getKey().topic()).contains(entry.getKey())) {
                find(entry.getKey(), entry.getValue(), visitor);
            }
        }
    }

    /** Returns the records at the given positions. A record is missing if it was deleted, or its topic was. */
    public Map<Position, ConsumerRecord<byte[], byte[]>> find(Collection<Position> positions) {
        Map<Position, ConsumerRecord<byte[], byte[]>> records = new HashMap<>();
        find(positions, record -> records.put(positionOf(record), record));
        return records;
    }

    /** Passes the records at the given positions to the visitor, as the method for offsets does. */
    public <E extends Exception> void find(Collection<Position> positions, Visitor<E> visitor) throws E {
        Map<TopicPartition, TreeSet<Long>> offsets = new HashMap<>();
        for (Position position : positions) {
            offsets.computeIfAbsent(partitionOf(position), none -> new TreeSet<>())
                    .add(position.offset());
        }
        find(offsets, visitor);
    }

    private <E extends Exception> void find(
            TopicPartition partition, NavigableSet<Long> offsetsToRead, Visitor<E> visitor) throws E {
        consumer.assign(List.of(partition));
        long endOffset = endOffset(partition);
        Long next = offsetsToRead.ceiling(beginningOffset(partition));
        while (next != null && next < endOffset) {
            consumer.seek(partition, next);
            long position = next;
            long deadline = System.nanoTime() + timeout.toNanos();
            while (position == next) {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL_TIMEOUT);
                for (ConsumerRecord<byte[], byte[]> record : records) {
                    if (offsetsToRead.contains(record.offset())) {
                        visitor.visit(record);
                    }
                }
                limiter.await(records.count());
                position = consumer.position(partition);
                if (position == next && System.nanoTime() - deadline > 0) {
                    throw new TimeoutException(partition + " cannot be read at offset " + next);
                }
            }
            next = offsetsToRead.ceiling(position);
        }
    }

    /** Returns the position of the event that a record of an events topic has. */
    public static Position positionOf(ConsumerRecord<?, ?> record) {
        return new Position(record.topic(), record.partition(), record.offset());
    }

    /** Returns the partition of an event. */
    public static TopicPartition partitionOf(Position position) {
        return new TopicPartition(position.topic(), position.partition());
    }

    private static long offset(Map<TopicPartition, Long> offsets, TopicPartition partition) {
        Long offset = offsets.get(partition);
        if (offset == null) {
            throw new TimeoutException("the brokers do not return the offsets of " + partition);
        }
        return offset;
    }

    @Override
    public void close() {
        consumer.close();
    }
}

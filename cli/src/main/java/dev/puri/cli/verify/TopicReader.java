package dev.puri.cli.verify;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/** Reads partitions, without a consumer group and not faster than a {@link Pacer} allows. Not thread-safe. */
final class TopicReader implements AutoCloseable {
    private static final Duration POLL_TIMEOUT = Duration.ofMillis(100);
    private static final Duration END_POLL_INTERVAL = Duration.ofMillis(20);

    private final Consumer<byte[], byte[]> committed;
    private final Consumer<byte[], byte[]> uncommitted;
    private final Duration timeout;
    private final Pacer pacer;

    /**
     * Receives records.
     *
     * @param <E> the exception that ends the reading
     */
    interface Visitor<E extends Exception> {
        void visit(ConsumerRecord<byte[], byte[]> record) throws E;
    }

    /**
     * @param committed a consumer with {@code isolation.level=read_committed}; closed by {@link #close}
     * @param uncommitted a consumer with {@code isolation.level=read_uncommitted}, which reads no records; closed too
     * @param timeout maximum time without progress
     */
    TopicReader(
            Consumer<byte[], byte[]> committed, Consumer<byte[], byte[]> uncommitted, Duration timeout, Pacer pacer) {
        this.committed = committed;
        this.uncommitted = uncommitted;
        this.timeout = timeout;
        this.pacer = pacer;
    }

    /** Returns the number of partitions of a topic; 0 if it does not exist. */
    int partitionCount(String topic) {
        List<PartitionInfo> partitions = committed.partitionsFor(topic);
        return partitions == null ? 0 : partitions.size();
    }

    List<String> topics() {
        return List.copyOf(committed.listTopics().keySet());
    }

    long beginning(TopicPartition partition) {
        return offset(committed.beginningOffsets(List.of(partition)), partition);
    }

    /** Returns the offset before which all transactions have ended. */
    long stableEnd(TopicPartition partition) {
        return offset(committed.endOffsets(List.of(partition)), partition);
    }

    /** Returns the number of offsets of all these partitions. */
    long size(List<TopicPartition> partitions) {
        Map<TopicPartition, Long> beginnings = committed.beginningOffsets(partitions);
        Map<TopicPartition, Long> ends = committed.endOffsets(partitions);
        return partitions.stream()
                .mapToLong(partition -> offset(ends, partition) - offset(beginnings, partition))
                .sum();
    }

    private static long offset(Map<TopicPartition, Long> offsets, TopicPartition partition) {
        Long offset = offsets.get(partition);
        if (offset == null) {
            throw new VerifyException("the brokers do not return the offsets of " + partition);
        }
        return offset;
    }

    /**
     * Waits until all transactions have ended that have records in the partitions now. A transaction has all its
     * records in the log before it commits. So if one of its records was read from any of the partitions, the other
     * ones can be read now.
     */
    void awaitTransactions(List<TopicPartition> partitions) {
        for (TopicPartition partition : partitions) {
            long end = offset(uncommitted.endOffsets(List.of(partition)), partition);
            long deadline = System.nanoTime() + timeout.toNanos();
            while (stableEnd(partition) < end) {
                if (System.nanoTime() > deadline) {
                    throw new VerifyException("a transaction in " + partition + " has been open for "
                            + timeout.toSeconds() + " s; health of the topology names it if it hangs");
                }
                LockSupport.parkNanos(END_POLL_INTERVAL.toNanos());
            }
        }
    }

    /**
     * Reads a partition to its current stable end.
     *
     * @return the offset from which the next call continues
     * @throws VerifyException if the partition cannot be read to the end
     */
    <E extends Exception> long read(TopicPartition partition, long from, Visitor<E> visitor) throws E {
        return read(partition, from, stableEnd(partition), visitor);
    }

    /** Reads the records from an offset on that are before another one, at most the stable end. */
    <E extends Exception> long read(TopicPartition partition, long from, long end, Visitor<E> visitor) throws E {
        if (from >= end) {
            return from;
        }
        committed.assign(List.of(partition));
        committed.seek(partition, from);
        long deadline = System.nanoTime() + timeout.toNanos();
        while (committed.position(partition) < end) {
            ConsumerRecords<byte[], byte[]> records = committed.poll(POLL_TIMEOUT);
            for (ConsumerRecord<byte[], byte[]> record : records) {
                if (record.offset() < end) {
                    visitor.visit(record);
                }
            }
            if (!records.isEmpty()) {
                pacer.read(records.count());
                deadline = System.nanoTime() + timeout.toNanos();
            } else if (System.nanoTime() > deadline) {
                throw new VerifyException(partition + " cannot be read further than offset "
                        + committed.position(partition) + " of " + end);
            }
        }
        return end;
    }

    /** Passes the records at the given offsets to the visitor. Offsets without a committed record are skipped. */
    <E extends Exception> void find(TopicPartition partition, NavigableSet<Long> offsets, Visitor<E> visitor) throws E {
        long end = stableEnd(partition);
        Long next = offsets.ceiling(beginning(partition));
        while (next != null && next < end) {
            committed.assign(List.of(partition));
            committed.seek(partition, next);
            long position = next;
            long deadline = System.nanoTime() + timeout.toNanos();
            while (position == next) {
                ConsumerRecords<byte[], byte[]> records = committed.poll(POLL_TIMEOUT);
                for (ConsumerRecord<byte[], byte[]> record : records) {
                    if (offsets.contains(record.offset())) {
                        visitor.visit(record);
                    }
                }
                pacer.read(records.count());
                position = committed.position(partition);
                if (System.nanoTime() > deadline) {
                    throw new VerifyException(partition + " cannot be read at offset " + next);
                }
            }
            next = offsets.ceiling(position);
        }
    }

    @Override
    public void close() {
        try {
            committed.close();
        } finally {
            uncommitted.close();
        }
    }
}

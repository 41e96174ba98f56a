package dev.puri.tail.transactions;

import dev.puri.tail.transactions.StableOffsets.Snapshot;
import dev.puri.tail.transactions.StableOffsets.Stalled;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/** Asks the brokers about transactions. Used by one thread, but for {@link #close}. */
interface TransactionView extends AutoCloseable {
    /**
     * The offsets of all partitions that are followed.
     *
     * @throws org.apache.kafka.common.KafkaException when no broker answers
     */
    Snapshot offsets();

    /**
     * The transactions that partitions wait for, without those that this principal may not see.
     *
     * @throws org.apache.kafka.common.KafkaException when no broker answers
     */
    Map<TopicPartition, OpenTransaction> open(Collection<Stalled> partitions);

    /** The longest time-out of a transaction that the brokers allow; Kafka's default when they do not report it. */
    Duration longestTimeout();

    /** Fails what is being asked; from any thread, and more than once. */
    @Override
    void close();
}

package dev.puri.projection.transactions;

import dev.puri.projection.transactions.StallTimer.ObservedOffsets;
import dev.puri.projection.transactions.StallTimer.StalledPartition;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/** Reads offsets and transactions from the brokers. Used by one thread, except {@link #close}. */
interface TransactionReader extends AutoCloseable {
    /**
     * Returns the offsets of all followed partitions.
     *
     * @throws org.apache.kafka.common.KafkaException if no broker responds
     */
    ObservedOffsets offsets();

    /**
     * Returns the open transactions of stalled partitions. A partition is absent if its leader does not respond or this
     * principal may not see its producers.
     */
    Map<TopicPartition, OpenTransaction> openTransactions(Collection<StalledPartition> partitions);

    /** Returns the maximum transaction timeout that the brokers allow; Kafka's default if they do not report it. */
    Duration maxTimeout();

    /** Fails pending requests. May be called by any thread, and more than once. */
    @Override
    void close();
}

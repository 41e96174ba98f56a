package dev.puri.registry;

import java.util.function.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.StateRestoreListener;

/**
 * Checks that no records of a topic were deleted other than by compaction, before Kafka Streams restores a store from
 * it. The check before the start of the topology does not suffice: a running instance restores further stores when it
 * takes over a task of another instance, or after a failed transaction.
 *
 * @param check throws an exception if records of the partition are missing; the exception ends the topology
 */
record RestoreCheck(Consumer<TopicPartition> check) implements StateRestoreListener {
    @Override
    public void onRestoreStart(TopicPartition partition, String store, long startingOffset, long endingOffset) {
        check.accept(partition);
    }

    @Override
    public void onBatchRestored(TopicPartition partition, String store, long batchEndOffset, long restored) {}

    @Override
    public void onRestoreEnd(TopicPartition partition, String store, long restored) {}
}

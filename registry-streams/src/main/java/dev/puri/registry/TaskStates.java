package dev.puri.registry;

import dev.puri.projection.DigestAtOffset;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * The states of the registrar tasks on this instance, by partition, and the digests that they published last; for
 * metrics, HTTP and tests. Thread-safe.
 */
final class TaskStates {
    private final Map<Integer, TaskState> byPartition = new ConcurrentHashMap<>();
    private final Map<TopicPartition, DigestAtOffset> published = new ConcurrentHashMap<>();

    void put(int partition, TaskState state) {
        byPartition.put(partition, state);
    }

    void remove(int partition) {
        byPartition.remove(partition);
        published.keySet().removeIf(each -> each.partition() == partition);
    }

    /** Stores a digest that was published with a committed transaction. */
    void putPublished(TopicPartition partition, DigestAtOffset digest) {
        published.put(partition, digest);
    }

    /**
     * Returns the digest that a task of this instance published last; null if there is no such task, or it has
     * published none or no longer knows its digests.
     *
     * @param topic the topic of identities or documents
     */
    @Nullable
    DigestAtOffset published(String topic, int partition) {
        TaskState task = byPartition.get(partition);
        return task == null || task.digests() == null ? null : published.get(new TopicPartition(topic, partition));
    }

    /** Returns the sum of the counts of all tasks. */
    EventCounts counts() {
        return byPartition.values().stream().map(TaskState::counts).reduce(EventCounts.NONE, EventCounts::plus);
    }

    /** Returns a copy, in the order of the partitions. */
    SortedMap<Integer, TaskState> byPartition() {
        return new TreeMap<>(byPartition);
    }
}

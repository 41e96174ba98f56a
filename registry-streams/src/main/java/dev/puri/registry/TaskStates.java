package dev.puri.registry;

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/** The states of the registrar tasks on this instance, by partition; for metrics, HTTP and tests. Thread-safe. */
final class TaskStates {
    private final Map<Integer, TaskState> byPartition = new ConcurrentHashMap<>();

    void put(int partition, TaskState state) {
        byPartition.put(partition, state);
    }

    void remove(int partition) {
        byPartition.remove(partition);
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

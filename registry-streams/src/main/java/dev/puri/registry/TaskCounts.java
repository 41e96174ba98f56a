package dev.puri.registry;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The event counts of the registrar tasks on this instance, by partition; for metrics and tests. Thread-safe. */
final class TaskCounts {
    private final Map<Integer, EventCounts> byPartition = new ConcurrentHashMap<>();

    void put(int partition, EventCounts eventCounts) {
        byPartition.put(partition, eventCounts);
    }

    void remove(int partition) {
        byPartition.remove(partition);
    }

    EventCounts sum() {
        return byPartition.values().stream().reduce(EventCounts.NONE, EventCounts::plus);
    }
}

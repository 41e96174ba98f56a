package dev.puri.registry;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The tallies of this instance's registrar tasks, for metrics and tests. Thread-safe. */
final class Tallies {
    private final Map<Integer, Tally> byPartition = new ConcurrentHashMap<>();

    void put(int partition, Tally tally) {
        byPartition.put(partition, tally);
    }

    void remove(int partition) {
        byPartition.remove(partition);
    }

    Tally sum() {
        return byPartition.values().stream().reduce(Tally.NONE, Tally::plus);
    }
}

package dev.puri.search;

import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexCheckpoint;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;

/**
 * How far a reader is.
 *
 * @param next by partition the offset that is read next
 */
record Places(Map<TopicPartition, Long> next) {
    static final Places NONE = new Places(Map.of());

    Places {
        next = Map.copyOf(next);
    }

    /** Where an index goes on in the partitions that there are, or begins: topics that were cut or restored do not at 0. */
    static Places of(IndexCheckpoint reached, Sighting sighting) {
        Map<TopicPartition, Long> next = new HashMap<>();
        for (EntryKind kind : EntryKind.values()) {
            for (int partition : sighting.of(kind).ends().keySet()) {
                Long goesOn = reached.offsets().getOrDefault(kind, Map.of()).get(partition);
                next.put(
                        new TopicPartition(kind.topic(), partition),
                        goesOn == null ? sighting.begin(kind, partition) : goesOn);
            }
        }
        return new Places(next);
    }

    long next(EntryKind kind, int partition) {
        return next.getOrDefault(new TopicPartition(kind.topic(), partition), 0L);
    }

    /** Whether it is everywhere as far as another, or farther. */
    boolean hasReached(Places other) {
        return other.next.entrySet().stream().allMatch(each -> next.getOrDefault(each.getKey(), 0L) >= each.getValue());
    }

    Map<EntryKind, Map<Integer, Long>> byKind() {
        Map<EntryKind, Map<Integer, Long>> byKind = new EnumMap<>(EntryKind.class);
        for (EntryKind kind : EntryKind.values()) {
            Map<Integer, Long> offsets = new TreeMap<>();
            next.forEach((partition, offset) -> {
                if (partition.topic().equals(kind.topic())) {
                    offsets.put(partition.partition(), offset);
                }
            });
            byKind.put(kind, offsets);
        }
        return byKind;
    }
}

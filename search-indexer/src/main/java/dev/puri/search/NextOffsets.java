package dev.puri.search;

import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexCheckpoint;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;

/**
 * For each partition of {@code puri.identities.v1} and {@code puri.documents.v1}, the next offset to read.
 *
 * @param byPartition the next offset by partition
 */
record NextOffsets(Map<TopicPartition, Long> byPartition) {
    static final NextOffsets NONE = new NextOffsets(Map.of());

    NextOffsets {
        byPartition = Map.copyOf(byPartition);
    }

    /**
     * Returns the offsets at which an index continues: those of its checkpoint, or else the beginning offsets.
     */
    static NextOffsets of(IndexCheckpoint checkpoint, SourceOffsets source) {
        Map<TopicPartition, Long> next = new HashMap<>();
        for (EntryKind kind : EntryKind.values()) {
            for (int partition : source.endsOf(kind).byPartition().keySet()) {
                Long checkpointOffset =
                        checkpoint.offsets().getOrDefault(kind, Map.of()).get(partition);
                next.put(
                        new TopicPartition(kind.topic(), partition),
                        checkpointOffset == null ? source.beginningOffset(kind, partition) : checkpointOffset);
            }
        }
        return new NextOffsets(next);
    }

    /** Returns the next offset of a partition; 0 if the partition is unknown. */
    long nextOffset(EntryKind kind, int partition) {
        return byPartition.getOrDefault(new TopicPartition(kind.topic(), partition), 0L);
    }

    /** Returns whether each offset is at least the offset of the same partition in {@code other}. */
    boolean hasReached(NextOffsets other) {
        return other.byPartition.entrySet().stream()
                .allMatch(entry -> byPartition.getOrDefault(entry.getKey(), 0L) >= entry.getValue());
    }

    /** Returns the next offsets by kind and partition. */
    Map<EntryKind, Map<Integer, Long>> byKind() {
        Map<EntryKind, Map<Integer, Long>> byKind = new EnumMap<>(EntryKind.class);
        for (EntryKind kind : EntryKind.values()) {
            Map<Integer, Long> offsets = new TreeMap<>();
            byPartition.forEach((partition, offset) -> {
                if (partition.topic().equals(kind.topic())) {
                    offsets.put(partition.partition(), offset);
                }
            });
            byKind.put(kind, offsets);
        }
        return byKind;
    }
}

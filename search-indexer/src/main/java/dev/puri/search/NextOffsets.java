package dev.puri.search;

import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexCheckpoint;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;

/**
 * The offsets that a reader of the topics reads next.
 *
 * @param next by partition
 */
record NextOffsets(Map<TopicPartition, Long> next) {
    static final NextOffsets NONE = new NextOffsets(Map.of());

    NextOffsets {
        next = Map.copyOf(next);
    }

    /**
     * The offsets from which an index is fed: those of its checkpoint, or the first ones that the brokers have. Topics
     * that were cut or restored do not begin at 0.
     */
    static NextOffsets of(IndexCheckpoint reached, SourceOffsets source) {
        Map<TopicPartition, Long> next = new HashMap<>();
        for (EntryKind kind : EntryKind.values()) {
            for (int partition : source.endsOf(kind).byPartition().keySet()) {
                Long committed = reached.offsets().getOrDefault(kind, Map.of()).get(partition);
                next.put(
                        new TopicPartition(kind.topic(), partition),
                        committed == null ? source.begin(kind, partition) : committed);
            }
        }
        return new NextOffsets(next);
    }

    long next(EntryKind kind, int partition) {
        return next.getOrDefault(new TopicPartition(kind.topic(), partition), 0L);
    }

    /** Whether each partition is read as far as by another reader, or farther. */
    boolean hasReached(NextOffsets other) {
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

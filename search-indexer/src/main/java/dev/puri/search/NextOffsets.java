package dev.puri.search;

import dev.puri.search.index.Kind;
import dev.puri.search.index.Reached;
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
record NextOffsets(Map<TopicPartition, Long> next) {
    static final NextOffsets NONE = new NextOffsets(Map.of());

    NextOffsets {
        next = Map.copyOf(next);
    }

    /** Where an index goes on in the partitions that there are, or begins: topics that were cut or restored do not at 0. */
    static NextOffsets of(Reached reached, SourceOffsets source) {
        Map<TopicPartition, Long> next = new HashMap<>();
        for (Kind kind : Kind.values()) {
            for (int partition : source.endsOf(kind).byPartition().keySet()) {
                Long goesOn = reached.offsets().getOrDefault(kind, Map.of()).get(partition);
                next.put(
                        new TopicPartition(kind.topic(), partition),
                        goesOn == null ? source.begin(kind, partition) : goesOn);
            }
        }
        return new NextOffsets(next);
    }

    long next(Kind kind, int partition) {
        return next.getOrDefault(new TopicPartition(kind.topic(), partition), 0L);
    }

    /** Whether it is everywhere as far as another, or farther. */
    boolean hasReached(NextOffsets other) {
        return other.next.entrySet().stream().allMatch(each -> next.getOrDefault(each.getKey(), 0L) >= each.getValue());
    }

    Map<Kind, Map<Integer, Long>> byKind() {
        Map<Kind, Map<Integer, Long>> byKind = new EnumMap<>(Kind.class);
        for (Kind kind : Kind.values()) {
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

package dev.puri.search;

import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexCheckpoint;
import dev.puri.tail.ObservationTime;
import dev.puri.tail.TopicEnds;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * The offsets at which the topics that an index is made of begin and end, at one time.
 *
 * @param ends by kind
 * @param begins by kind and partition, the first offset that the brokers have
 * @param at when the brokers were asked; they may not report what was written while they answered
 */
record SourceOffsets(Map<EntryKind, TopicEnds> ends, Map<EntryKind, Map<Integer, Long>> begins, ObservationTime at) {
    SourceOffsets {
        ends = Map.copyOf(ends);
        begins = Map.copyOf(begins);
    }

    TopicEnds endsOf(EntryKind kind) {
        return Objects.requireNonNull(ends.get(kind));
    }

    /** The first offset that the brokers have of a partition. */
    long begin(EntryKind kind, int partition) {
        return begins.getOrDefault(kind, Map.of()).getOrDefault(partition, 0L);
    }

    /** Offsets between a reader and the ends, summed over all partitions. */
    long lag(NextOffsets reader) {
        return ends.entrySet().stream()
                .mapToLong(topic -> topic.getValue().lag(partition -> reader.next(topic.getKey(), partition)))
                .sum();
    }

    /** All end offsets, summed over all partitions. */
    long end() {
        return ends.values().stream().mapToLong(each -> each.ends().total()).sum();
    }

    /**
     * Why an index cannot be fed from its checkpoint, so that it has to be rebuilt; null when it can.
     *
     * @param trusted how long an index may have been without contact: after that, tombstones of erased names may be
     *     gone
     */
    @Nullable
    String mismatch(IndexCheckpoint reached, Duration trusted, Instant now) {
        if (reached.topicIds().isEmpty()) {
            return null;
        }
        for (EntryKind kind : EntryKind.values()) {
            TopicEnds topic = endsOf(kind);
            if (!topic.topicId().toString().equals(reached.topicIds().get(kind))) {
                return kind.topic() + " was deleted and created again";
            }
            Map<Integer, Long> offsets = reached.offsets().getOrDefault(kind, Map.of());
            if (!offsets.keySet().equals(topic.byPartition().keySet())) {
                return kind.topic() + " has " + topic.byPartition().size() + " partitions instead of " + offsets.size();
            }
            for (Map.Entry<Integer, Long> offset : offsets.entrySet()) {
                if (offset.getValue() > topic.byPartition().getOrDefault(offset.getKey(), 0L)) {
                    return "its next offset " + offset.getValue() + " is after the end of "
                            + new TopicPartition(kind.topic(), offset.getKey());
                }
                if (offset.getValue() < begin(kind, offset.getKey())) {
                    return "its next offset " + offset.getValue() + " is before the beginning of "
                            + new TopicPartition(kind.topic(), offset.getKey());
                }
            }
        }
        if (Duration.between(reached.asOf(), now).compareTo(trusted) > 0) {
            return "it is as of " + reached.asOf() + " and may have missed what was erased since";
        }
        // Clocks may differ, but not by much.
        return Duration.between(now, reached.asOf()).compareTo(trusted.dividedBy(6)) > 0
                ? "it is as of " + reached.asOf() + ", which is in the future"
                : null;
    }
}

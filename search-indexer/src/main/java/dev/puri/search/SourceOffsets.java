package dev.puri.search;

import dev.puri.projection.ObservationTime;
import dev.puri.projection.TopicEnds;
import dev.puri.projection.Truncation;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexCheckpoint;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * The beginning and end offsets of both topics of an index, at one time.
 *
 * @param ends end offsets by kind
 * @param begins beginning offsets by kind and partition
 * @param at time of the request to the brokers; records that were written later may be missing
 */
record SourceOffsets(Map<EntryKind, TopicEnds> ends, Map<EntryKind, Map<Integer, Long>> begins, ObservationTime at) {
    SourceOffsets {
        ends = Map.copyOf(ends);
        begins = Map.copyOf(begins);
    }

    TopicEnds endsOf(EntryKind kind) {
        return Objects.requireNonNull(ends.get(kind));
    }

    /** Returns the number of partitions of a topic. */
    int partitions(EntryKind kind) {
        return endsOf(kind).byPartition().size();
    }

    /** Returns the beginning offset of a partition. */
    long beginningOffset(EntryKind kind, int partition) {
        return begins.getOrDefault(kind, Map.of()).getOrDefault(partition, 0L);
    }

    /** Returns the lag of a reader in offsets, summed over all partitions. */
    long lag(NextOffsets nextOffsets) {
        return ends.entrySet().stream()
                .mapToLong(
                        topic -> topic.getValue().lag(partition -> nextOffsets.nextOffset(topic.getKey(), partition)))
                .sum();
    }

    /** Returns the sum of the end offsets of all partitions. */
    long sumOfEnds() {
        return ends.values().stream().mapToLong(topic -> topic.ends().total()).sum();
    }

    /**
     * Returns which partition lost its first records; null if none did. An index that is filled from these topics would
     * lack entries.
     */
    @Nullable
    String truncation() {
        for (EntryKind kind : EntryKind.values()) {
            String reason = Truncation.reason(kind.topic(), begins.getOrDefault(kind, Map.of()));
            if (reason != null) {
                return reason;
            }
        }
        return null;
    }

    /**
     * Returns why an index must be rebuilt; null if it can continue from its checkpoint. An empty index
     * cannot be filled from topics that lost their first records.
     *
     * @param maxIndexAge maximum time since the index was complete; an older index may have missed tombstones, which
     *     brokers delete after some time
     */
    @Nullable
    String mismatch(IndexCheckpoint checkpoint, Duration maxIndexAge, Instant now) {
        if (checkpoint.topicIds().isEmpty()) {
            return truncation();
        }
        for (EntryKind kind : EntryKind.values()) {
            TopicEnds topic = endsOf(kind);
            if (!topic.topicId().toString().equals(checkpoint.topicIds().get(kind))) {
                return kind.topic() + " was deleted and created again";
            }
            Map<Integer, Long> offsets = checkpoint.offsets().getOrDefault(kind, Map.of());
            if (!offsets.keySet().equals(topic.byPartition().keySet())) {
                return kind.topic() + " has " + topic.byPartition().size()
                        + " partitions, but the index was built from " + offsets.size();
            }
            for (Map.Entry<Integer, Long> offset : offsets.entrySet()) {
                if (offset.getValue() > topic.byPartition().getOrDefault(offset.getKey(), 0L)) {
                    return "the next offset of the index, " + offset.getValue() + ", is after the end of "
                            + new TopicPartition(kind.topic(), offset.getKey());
                }
                if (offset.getValue() < beginningOffset(kind, offset.getKey())) {
                    return "the next offset of the index, " + offset.getValue() + ", is before the beginning of "
                            + new TopicPartition(kind.topic(), offset.getKey());
                }
            }
        }
        if (Duration.between(checkpoint.asOf(), now).compareTo(maxIndexAge) > 0) {
            return "the index is as of " + checkpoint.asOf() + " and may have missed erasures since then";
        }
        // Clocks may differ by the margin between maxIndexAge and the retention of tombstones: a sixth of maxIndexAge.
        return Duration.between(now, checkpoint.asOf()).compareTo(maxIndexAge.dividedBy(6)) > 0
                ? "the index is as of " + checkpoint.asOf() + ", which is in the future"
                : null;
    }
}

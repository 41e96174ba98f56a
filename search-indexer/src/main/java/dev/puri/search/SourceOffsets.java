package dev.puri.search;

import dev.puri.projection.EndOffsets;
import dev.puri.projection.ObservationTime;
import dev.puri.projection.TopicEnds;
import dev.puri.projection.TopicMismatch;
import dev.puri.projection.Truncation;
import dev.puri.search.index.EntryKind;
import dev.puri.search.index.IndexCheckpoint;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;

/**
 * The beginning and end offsets of both topics of an index, at one time.
 *
 * @param ends end offsets by kind
 * @param begins beginning offsets by kind and partition
 * @param documentHighWatermarks end offsets of the documents that include the records of open transactions
 * @param at time of the request to the brokers; records that were written later may be missing
 */
record SourceOffsets(
        Map<EntryKind, TopicEnds> ends,
        Map<EntryKind, Map<Integer, Long>> begins,
        EndOffsets documentHighWatermarks,
        ObservationTime at) {
    SourceOffsets {
        ends = Map.copyOf(ends);
        begins = Map.copyOf(begins);
    }

    TopicEnds endsOf(EntryKind kind) {
        return Objects.requireNonNull(ends.get(kind));
    }

    /** Returns the id of each topic, as an {@link IndexCheckpoint} contains it. */
    Map<EntryKind, String> topicIds() {
        Map<EntryKind, String> topicIds = new EnumMap<>(EntryKind.class);
        ends.forEach((kind, topic) -> topicIds.put(kind, topic.topicId().toString()));
        return topicIds;
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
            TopicMismatch mismatch = TopicMismatch.find(
                    storedTopicId(checkpoint, kind),
                    checkpoint.offsets().getOrDefault(kind, Map.of()),
                    endsOf(kind).topicId(),
                    begins.getOrDefault(kind, Map.of()),
                    endsOf(kind).byPartition());
            if (mismatch != null) {
                return describe(kind.topic(), mismatch);
            }
        }
        if (Duration.between(checkpoint.completeUpTo(), now).compareTo(maxIndexAge) > 0) {
            return "the index has all records only up to " + checkpoint.completeUpTo()
                    + " and may have missed erasures";
        }
        // Clocks may differ by the margin between maxIndexAge and the retention of tombstones: a sixth of maxIndexAge.
        return Duration.between(now, checkpoint.completeUpTo()).compareTo(maxIndexAge.dividedBy(6)) > 0
                ? "the index has all records up to " + checkpoint.completeUpTo() + ", which is in the future"
                : null;
    }

    /** Returns the id of a topic in the checkpoint. If it is missing or damaged, returns an id that no topic has. */
    private static Uuid storedTopicId(IndexCheckpoint checkpoint, EntryKind kind) {
        try {
            return Uuid.fromString(checkpoint.topicIds().getOrDefault(kind, ""));
        } catch (IllegalArgumentException e) {
            return Uuid.ZERO_UUID;
        }
    }

    private static String describe(String topic, TopicMismatch mismatch) {
        return switch (mismatch) {
            case TopicMismatch.OtherTopic other -> topic + " was deleted and created again";
            case TopicMismatch.OtherPartitions other ->
                topic + " has " + other.currentCount() + " partitions, but the index was built from "
                        + other.storedCount();
            case TopicMismatch.OffsetOutOfRange range ->
                "the next offset of the index, " + range.nextOffset() + ", is "
                        + (range.isAfterEnd() ? "after the end of " : "before the beginning of ")
                        + new TopicPartition(topic, range.partition());
        };
    }
}

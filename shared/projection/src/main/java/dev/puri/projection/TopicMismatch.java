package dev.puri.projection;

import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;

/**
 * The reason why a reader cannot continue from stored offsets: the topic is not the one to which they belong, or it
 * does not have the next records. Local state with such offsets must be built from the beginning of the topic.
 */
public sealed interface TopicMismatch {
    /** The topic was deleted and created again. */
    record OtherTopic(Uuid storedId, Uuid currentId) implements TopicMismatch {}

    /** The topic has other partitions. */
    record OtherPartitions(int storedCount, int currentCount) implements TopicMismatch {}

    /**
     * A partition does not have the next offset: its record was deleted before it was read, or the partition ends
     * before it, as a topic that was created again does.
     */
    record OffsetOutOfRange(int partition, long nextOffset, long logStartOffset, long endOffset)
            implements TopicMismatch {
        /** Returns whether the partition ends before the next offset. Otherwise it begins after it. */
        public boolean isAfterEnd() {
            return nextOffset > endOffset;
        }
    }

    /**
     * Returns the reason, or null if the reader can continue.
     *
     * @param storedId the id of the topic to which the stored offsets belong
     * @param nextOffsets by partition, the offset that is read next
     * @param currentId the id of the topic with this name now
     * @param logStartOffsets by partition, the offset of the first record that the brokers still have; 0 if missing
     * @param endOffsets by partition
     */
    static @Nullable TopicMismatch find(
            Uuid storedId,
            Map<Integer, Long> nextOffsets,
            Uuid currentId,
            Map<Integer, Long> logStartOffsets,
            Map<Integer, Long> endOffsets) {
        return storedId.equals(currentId)
                ? find(nextOffsets, logStartOffsets, endOffsets)
                : new OtherTopic(storedId, currentId);
    }

    /**
     * Like the other method, for a reader that does not know topic ids. It cannot detect a topic that was created again
     * and has as many records as the previous one.
     */
    static @Nullable TopicMismatch find(
            Map<Integer, Long> nextOffsets, Map<Integer, Long> logStartOffsets, Map<Integer, Long> endOffsets) {
        if (!nextOffsets.keySet().equals(endOffsets.keySet())) {
            return new OtherPartitions(nextOffsets.size(), endOffsets.size());
        }
        for (Map.Entry<Integer, Long> next : new TreeMap<>(nextOffsets).entrySet()) {
            int partition = next.getKey();
            long offset = next.getValue();
            long logStart = logStartOffsets.getOrDefault(partition, 0L);
            long end = endOffsets.getOrDefault(partition, 0L);
            if (offset < logStart || offset > end) {
                return new OffsetOutOfRange(partition, offset, logStart, end);
            }
        }
        return null;
    }
}

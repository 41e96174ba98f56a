package dev.puri.tail;

import java.util.Map;
import java.util.function.IntToLongFunction;

/**
 * The end offsets of a topic at one time. A reader that has reached them has read all that was committed by then.
 *
 * @param byPartition the offset at which each partition ends
 * @param at when the brokers were asked; they may not report what was written while they answered
 */
public record EndOffsets(Map<Integer, Long> byPartition, ObservationTime at) {
    /** Copies the offsets. */
    public EndOffsets {
        byPartition = Map.copyOf(byPartition);
    }

    /**
     * Offsets between a reader and the ends, summed over the partitions.
     *
     * @param nextOffset by partition, the offset that the reader reads next
     */
    public long lag(IntToLongFunction nextOffset) {
        return byPartition.entrySet().stream()
                .mapToLong(end -> Math.max(0, end.getValue() - nextOffset.applyAsLong(end.getKey())))
                .sum();
    }

    /**
     * Whether a reader has read each partition to its end.
     *
     * @param nextOffset by partition, the offset that the reader reads next
     */
    public boolean isReachedBy(IntToLongFunction nextOffset) {
        return lag(nextOffset) == 0;
    }

    /** All end offsets, summed over the partitions. */
    public long total() {
        return byPartition.values().stream().mapToLong(Long::longValue).sum();
    }
}

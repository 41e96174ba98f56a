package dev.puri.projection;

import java.util.Map;
import java.util.function.IntToLongFunction;

/**
 * The end offsets of a topic at one time. A reader that has reached them has read all records committed by that time.
 *
 * @param byPartition the end offset of each partition
 * @param at the time just before the brokers were asked for the offsets; the offsets may lack later records
 */
public record EndOffsets(Map<Integer, Long> byPartition, ObservationTime at) {
    /** Copies the offsets. */
    public EndOffsets {
        byPartition = Map.copyOf(byPartition);
    }

    /**
     * Returns the reader's lag: the number of offsets to the ends, summed over the partitions.
     *
     * @param nextOffset maps a partition to the offset that the reader reads next
     */
    public long lag(IntToLongFunction nextOffset) {
        return byPartition.entrySet().stream()
                .mapToLong(end -> Math.max(0, end.getValue() - nextOffset.applyAsLong(end.getKey())))
                .sum();
    }

    /**
     * Returns whether a reader has read each partition to its end.
     *
     * @param nextOffset maps a partition to the offset that the reader reads next
     */
    public boolean isReachedBy(IntToLongFunction nextOffset) {
        return lag(nextOffset) == 0;
    }

    /** Returns the sum of all end offsets. */
    public long total() {
        return byPartition.values().stream().mapToLong(Long::longValue).sum();
    }
}

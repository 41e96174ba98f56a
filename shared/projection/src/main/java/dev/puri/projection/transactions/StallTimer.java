package dev.puri.projection.transactions;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;

/**
 * Measures for how long the last stable offset of each partition has not moved although the partition has later
 * records. The record at the last stable offset belongs to an open transaction, and {@code read_committed} consumers
 * cannot read it or later records until that transaction ends. Used by one thread; uses no clock and no broker.
 */
final class StallTimer {
    private Map<TopicPartition, FirstObservation> observations = Map.of();

    /**
     * The last stable offset and the high watermark of a partition.
     *
     * @param lastStable every transaction before this offset has ended
     * @param highWatermark the offset after the last record that all in-sync replicas have
     */
    record Offsets(long lastStable, long highWatermark) {}

    /**
     * The offsets of all followed partitions at one time.
     *
     * @param unreported existing partitions whose offsets no broker reported, for example because they have no leader
     */
    record ObservedOffsets(Map<TopicPartition, Offsets> offsets, Set<TopicPartition> unreported) {}

    /**
     * A partition whose last stable offset does not move.
     *
     * @param stalledFor the time since this was first observed; the transaction may be older
     */
    record StalledPartition(TopicPartition partition, Offsets offsets, Duration stalledFor) {
        /** Returns whether both are stalls of the same partition at the same last stable offset. */
        boolean isSameStall(StalledPartition other) {
            return partition.equals(other.partition) && offsets.lastStable() == other.offsets.lastStable();
        }
    }

    /** The time at which a last stable offset was observed first. */
    private record FirstObservation(long lastStable, long nanos) {}

    /**
     * Compares the offsets of all partitions with the previous ones. While no broker reports the offsets of a
     * partition, its stall continues.
     *
     * @param nanos the time at which the offsets were requested, by {@link System#nanoTime}
     * @return the stalled partitions among the reported ones; a new stall has the duration 0
     */
    List<StalledPartition> observe(ObservedOffsets observed, long nanos) {
        Map<TopicPartition, FirstObservation> newObservations = new HashMap<>(observations);
        newObservations.keySet().retainAll(observed.unreported());
        List<StalledPartition> stalled = new ArrayList<>();
        observed.offsets().forEach((partition, offsets) -> {
            if (offsets.lastStable() < offsets.highWatermark()) {
                FirstObservation previous = observations.get(partition);
                FirstObservation first = previous != null && previous.lastStable() == offsets.lastStable()
                        ? previous
                        : new FirstObservation(offsets.lastStable(), nanos);
                newObservations.put(partition, first);
                stalled.add(new StalledPartition(partition, offsets, Duration.ofNanos(nanos - first.nanos())));
            }
        });
        observations = newObservations;
        return stalled;
    }

    /** Returns whether the partition still waits for the same transaction, by the last observation. */
    boolean isStillStalled(StalledPartition stalled) {
        FirstObservation observation = observations.get(stalled.partition());
        return observation != null
                && observation.lastStable() == stalled.offsets().lastStable();
    }
}

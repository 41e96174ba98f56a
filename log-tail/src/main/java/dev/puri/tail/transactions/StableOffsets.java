package dev.puri.tail.transactions;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;

/**
 * For how long each partition's last stable offset has not moved although there is more after it. The first record that
 * is not stable belongs to an open transaction, and no later one can be read with {@code read_committed} before that
 * ends. Used by one thread; knows no clock and no broker.
 */
final class StableOffsets {
    private Map<TopicPartition, Seen> seen = Map.of();

    /**
     * Where a partition can be read to, and where it ends.
     *
     * @param lastStable the offset before which every transaction has ended
     * @param end the high watermark
     */
    record Offsets(long lastStable, long end) {}

    /**
     * The offsets of all followed partitions at one moment.
     *
     * @param unanswered existing partitions whose offsets no broker reported, such as those without a leader
     */
    record Snapshot(Map<TopicPartition, Offsets> offsets, Set<TopicPartition> unanswered) {}

    /**
     * A partition whose last stable offset does not move.
     *
     * @param since for how long that was seen; the transaction may be older
     */
    record Stalled(TopicPartition partition, Offsets offsets, Duration since) {
        /** Whether it is the same partition that waits for the same transaction. */
        boolean isSameAs(Stalled other) {
            return partition.equals(other.partition) && offsets.lastStable() == other.offsets.lastStable();
        }
    }

    private record Seen(long lastStable, long nanos) {}

    /**
     * Takes the offsets of all partitions. The time of a partition continues while no broker reports its offsets.
     *
     * @param nanos when they were asked for, of {@link System#nanoTime}
     * @return the partitions that wait for a transaction, also those that were seen to do so for the first time, but
     *     without the unanswered ones
     */
    List<Stalled> observe(Snapshot now, long nanos) {
        Map<TopicPartition, Seen> next = new HashMap<>(seen);
        next.keySet().retainAll(now.unanswered());
        List<Stalled> stalled = new ArrayList<>();
        now.offsets().forEach((partition, offsets) -> {
            if (offsets.lastStable() < offsets.end()) {
                Seen before = seen.get(partition);
                Seen first = before != null && before.lastStable() == offsets.lastStable()
                        ? before
                        : new Seen(offsets.lastStable(), nanos);
                next.put(partition, first);
                stalled.add(new Stalled(partition, offsets, Duration.ofNanos(nanos - first.nanos())));
            }
        });
        seen = next;
        return stalled;
    }

    /** Whether the partition waits for the same transaction still, as far as is known. */
    boolean isStillStalled(Stalled before) {
        Seen last = seen.get(before.partition());
        return last != null && last.lastStable() == before.offsets().lastStable();
    }
}

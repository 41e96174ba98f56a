package dev.puri.resolver.table;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.apache.kafka.common.Uuid;

/**
 * The state of the topic that a snapshot must match.
 *
 * @param begins first offset by partition
 * @param ends last stable offset by partition
 * @param tombstonesKept {@code delete.retention.ms}: after that time a tombstone that the snapshot lacks may be gone,
 *     and the erased row would come back
 */
public record SnapshotRequirements(
        Uuid topicId, Map<Integer, Long> begins, Map<Integer, Long> ends, Duration tombstonesKept, Instant now) {
    /** A margin for differing clocks, and for the time in which the rest of the topic is read. */
    Duration trusted() {
        return tombstonesKept.minus(margin());
    }

    /** How far clocks may differ. */
    Duration margin() {
        return tombstonesKept.dividedBy(7);
    }
}

package dev.puri.resolver.table;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.apache.kafka.common.Uuid;

/**
 * The topic and the time that a snapshot has to fit.
 *
 * @param begins first offset by partition
 * @param ends last stable offset by partition
 * @param tombstonesKept {@code delete.retention.ms}: after that long a tombstone that the snapshot has
 *     missed may be gone, and what it erased would come back
 */
public record SnapshotRequirements(
        Uuid topicId, Map<Integer, Long> begins, Map<Integer, Long> ends, Duration tombstonesKept, Instant now) {
    /** A margin for clocks, and for the time from opening to having read the rest of the topic. */
    Duration trusted() {
        return tombstonesKept.minus(margin());
    }

    /** How far clocks may be apart. */
    Duration margin() {
        return tombstonesKept.dividedBy(7);
    }
}

package dev.puri.resolver.table;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.apache.kafka.common.Uuid;

/**
 * The state of the topic, which a snapshot must match to be opened.
 *
 * @param begins the first offset of each partition
 * @param ends the last stable offset of each partition
 * @param tombstoneRetention the topic's {@code delete.retention.ms}. An older snapshot may lack a tombstone that the
 *     brokers have already deleted, so an erased row would come back
 * @param now the current time
 */
public record SnapshotRequirements(
        Uuid topicId, Map<Integer, Long> begins, Map<Integer, Long> ends, Duration tombstoneRetention, Instant now) {
    /** Returns the maximum age of a snapshot, which leaves time to read the rest of the topic. */
    Duration maxAge() {
        return tombstoneRetention.minus(clockMargin());
    }

    /** Returns the maximum difference between the clocks of the machines involved. */
    Duration clockMargin() {
        return tombstoneRetention.dividedBy(7);
    }
}

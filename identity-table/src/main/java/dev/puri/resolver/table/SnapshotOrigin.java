package dev.puri.resolver.table;

import java.time.Instant;
import org.apache.kafka.common.Uuid;

/**
 * What a table was filled from.
 *
 * @param topicId tells the topic from another that had its name before
 * @param partitions of the topic
 * @param asOf a moment at which the table had all that the topic had
 */
public record SnapshotOrigin(Uuid topicId, int partitions, Instant asOf) {}

package dev.puri.resolver.table;

import java.time.Instant;
import org.apache.kafka.common.Uuid;

/**
 * Identifies the topic from which a table was filled, and the age of the table.
 *
 * @param topicId distinguishes the topic from an earlier one of the same name
 * @param partitions the number of the topic's partitions
 * @param completeUpTo a time at which the table had all records of the topic
 */
public record SnapshotOrigin(Uuid topicId, int partitions, Instant completeUpTo) {}

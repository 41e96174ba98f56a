package dev.puri.resolver.table;

import java.time.Instant;
import org.apache.kafka.common.Uuid;

/**
 * The topic from which a table was filled.
 *
 * @param topicId distinguishes the topic from an earlier one of the same name
 * @param partitions of the topic
 * @param asOf a time at which the table had all records of the topic
 */
public record SnapshotOrigin(Uuid topicId, int partitions, Instant asOf) {}

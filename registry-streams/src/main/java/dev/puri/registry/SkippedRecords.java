package dev.puri.registry;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts the records that cannot be decoded and are skipped, by topic. Invalid events are not among them: an event
 * always gets an outcome. The first skipped record of each partition is logged. Thread-safe.
 */
final class SkippedRecords {
    private static final Logger LOG = LoggerFactory.getLogger(SkippedRecords.class);

    /** Longer reasons are truncated in the log, because a reason may quote the whole record. */
    private static final int MAX_REASON_CHARACTERS = 300;

    private final Map<String, Long> byTopic = new ConcurrentHashMap<>();
    private final Set<TopicPartition> loggedPartitions = ConcurrentHashMap.newKeySet();

    void skip(RecordMetadata metadata, String reason) {
        byTopic.merge(metadata.topic(), 1L, Long::sum);
        if (loggedPartitions.add(new TopicPartition(metadata.topic(), metadata.partition()))) {
            LOG.warn(
                    "Skipped a record of {} that cannot be decoded, partition {} offset {}: {}."
                            + " Further skipped records of this partition are only counted",
                    metadata.topic(),
                    metadata.partition(),
                    metadata.offset(),
                    reason.length() > MAX_REASON_CHARACTERS
                            ? reason.substring(0, MAX_REASON_CHARACTERS) + "…"
                            : reason);
        }
    }

    /** Returns the number of skipped records of a topic since the process started. */
    long count(String topic) {
        return byTopic.getOrDefault(topic, 0L);
    }
}

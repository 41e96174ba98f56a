package dev.puri.registry;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts records of the registry's internal topics that cannot be decoded and are skipped. They are not events, so no
 * service expects an outcome. The first of each partition is logged. Thread-safe.
 */
final class SkippedRecords {
    private static final Logger LOG = LoggerFactory.getLogger(SkippedRecords.class);

    /** The most characters of a reason in the log; it may quote the whole record. */
    private static final int MAX_LOGGED = 300;

    private final Map<String, AtomicLong> byTopic = new ConcurrentHashMap<>();
    private final Set<TopicPartition> logged = ConcurrentHashMap.newKeySet();

    void skip(RecordMetadata record, String reason) {
        byTopic.computeIfAbsent(record.topic(), topic -> new AtomicLong()).incrementAndGet();
        if (logged.add(new TopicPartition(record.topic(), record.partition()))) {
            LOG.warn(
                    "Skipped a record of {} that cannot be decoded, partition {} offset {}: {}."
                            + " More in this partition are counted, not logged",
                    record.topic(),
                    record.partition(),
                    record.offset(),
                    reason.length() > MAX_LOGGED ? reason.substring(0, MAX_LOGGED) + "…" : reason);
        }
    }

    /** Returns the number of skipped records of a topic since the process started. */
    long of(String topic) {
        AtomicLong count = byTopic.get(topic);
        return count == null ? 0 : count.get();
    }
}

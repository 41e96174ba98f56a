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
 * Records of the registry's own topics that cannot be decoded. Nobody waits for an answer to one, so each is counted
 * and skipped; the first of each partition is logged. Thread-safe.
 */
final class SkippedRecords {
    private static final Logger LOG = LoggerFactory.getLogger(SkippedRecords.class);

    /** Characters of a reason, which may quote the whole record. */
    private static final int QUOTED = 300;

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
                    reason.length() > QUOTED ? reason.substring(0, QUOTED) + "…" : reason);
        }
    }

    /** Records of the topic skipped since this process started. */
    long of(String topic) {
        AtomicLong count = byTopic.get(topic);
        return count == null ? 0 : count.get();
    }
}

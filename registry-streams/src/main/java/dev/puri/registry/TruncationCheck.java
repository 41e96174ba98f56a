package dev.puri.registry;

import dev.puri.projection.Truncation;
import dev.puri.schemas.log.Topics;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Finds compacted topics from which something other than compaction deleted records. The log start offset of such a
 * topic is above 0 ({@link Truncation}). State that is restored from it is incomplete, and nothing else shows it: Kafka
 * Streams restores the remaining records and starts.
 */
final class TruncationCheck {
    private static final String LOST_DECLARATIONS =
            ", so declarations are missing; stop each instance of puri streams, recreate the topic, apply the declarations"
                    + " again and start the instances, see \"Deleted records\" in docs/operations.md";

    private static final String LOST_STATE =
            ": with a store that lacks them, pURIs and handles that are taken could be claimed again; follow"
                    + " docs/disasters.md, \"Changelogs lost\"";

    private TruncationCheck() {}

    /** Checks those of the topics that exist. Returns a sentence for each topic that lacks records, with the remedy. */
    static List<String> ofTopics(Admin admin, Collection<String> topics) {
        Set<String> existing =
                new TreeSet<>(RegistryTopics.await(admin.listTopics().names()));
        existing.retainAll(topics);
        List<TopicPartition> partitions = new ArrayList<>();
        RegistryTopics.await(admin.describeTopics(existing).allTopicNames())
                .forEach((name, topic) -> topic.partitions()
                        .forEach(partition -> partitions.add(new TopicPartition(name, partition.partition()))));
        return partitions.isEmpty() ? List.of() : ofPartitions(admin, partitions);
    }

    /** Checks partitions. Returns a sentence for each topic that lacks records, with the remedy. */
    static List<String> ofPartitions(Admin admin, List<TopicPartition> partitions) {
        Map<TopicPartition, OffsetSpec> earliest = new HashMap<>();
        partitions.forEach(partition -> earliest.put(partition, OffsetSpec.earliest()));
        Map<String, Map<Integer, Long>> logStartOffsets = new TreeMap<>();
        RegistryTopics.await(admin.listOffsets(earliest).all())
                .forEach((partition, start) -> logStartOffsets
                        .computeIfAbsent(partition.topic(), any -> new TreeMap<>())
                        .put(partition.partition(), start.offset()));
        List<String> mistakes = new ArrayList<>();
        logStartOffsets.forEach((topic, starts) -> {
            String mistake = mistake(topic, starts);
            if (mistake != null) {
                mistakes.add(mistake);
            }
        });
        return mistakes;
    }

    private static @Nullable String mistake(String topic, Map<Integer, Long> logStartOffsets) {
        if (topic.equals(Topics.IDENTITIES) || topic.equals(Topics.DOCUMENTS)) {
            return Truncation.reason(topic, logStartOffsets);
        }
        String deletedRecords = Truncation.deletedRecords(topic, logStartOffsets);
        if (deletedRecords == null) {
            return null;
        }
        return deletedRecords + (topic.equals(Topics.COLLECTIONS) ? LOST_DECLARATIONS : LOST_STATE);
    }
}

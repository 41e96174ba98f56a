package dev.puri.registry;

import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ConfigEntry.ConfigSource;

/** Finds configs that somebody has set on a topic, and that {@code puri topics create} does not set. */
final class ConfigOverrides {
    /**
     * Configs that operators may set. {@link RegistryTopics#check} checks the values of {@code min.insync.replicas} and
     * {@code max.message.bytes}. The others change neither which records a topic accepts nor how long it keeps them.
     * Reassignments of partitions set the throttled replicas.
     */
    private static final Set<String> ALLOWED = Set.of(
            RegistryTopics.MIN_INSYNC,
            ConfigRule.MAX_MESSAGE_BYTES,
            "leader.replication.throttled.replicas",
            "follower.replication.throttled.replicas",
            "compression.type",
            "compression.gzip.level",
            "compression.lz4.level",
            "compression.zstd.level",
            "flush.messages",
            "flush.ms",
            "index.interval.bytes",
            "min.cleanable.dirty.ratio",
            "preallocate",
            "segment.bytes",
            "segment.index.bytes",
            "segment.jitter.ms");

    private ConfigOverrides() {}

    /**
     * Returns a sentence for each override, with the command that removes it.
     *
     * @param created names of the configs with which the topic is created
     */
    static List<String> differences(ClusterTopic topic, Set<String> created) {
        return topic.config().entries().stream()
                .filter(entry -> entry.source() == ConfigSource.DYNAMIC_TOPIC_CONFIG)
                .filter(entry -> !created.contains(entry.name()) && !ALLOWED.contains(entry.name()))
                .filter(entry -> !isDefault(entry))
                .sorted(Comparator.comparing(ConfigEntry::name))
                .map(entry -> topic.name() + " has " + entry.name() + "=" + entry.value()
                        + ", which puri topics create does not set; remove it"
                        + RegistryTopics.alterCommand(topic.name()) + "--delete-config " + entry.name())
                .toList();
    }

    /** Whether the topic would have the same value without the override. */
    private static boolean isDefault(ConfigEntry override) {
        return override.synonyms().stream()
                .filter(synonym -> synonym.source() != ConfigSource.DYNAMIC_TOPIC_CONFIG)
                .findFirst()
                .map(synonym -> Objects.equals(override.value(), synonym.value()))
                .orElse(false);
    }
}

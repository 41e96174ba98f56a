package dev.puri.registry;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.common.config.ConfigResource;

/**
 * A topic of the cluster.
 *
 * @param replicas number of replicas by partition
 */
record ClusterTopic(String name, SortedMap<Integer, Integer> replicas, Config config) {
    int partitions() {
        return replicas.size();
    }

    /** Returns the number of replicas of the partition that has the fewest. */
    int replicationFactor() {
        return replicas.values().stream().mapToInt(Integer::intValue).min().orElse(0);
    }

    boolean isEvenlyReplicated() {
        return replicas.values().stream().distinct().count() <= 1;
    }

    /** Returns the partitions that have the fewest replicas, separated by commas. */
    String leastReplicatedPartitions() {
        int fewest = replicationFactor();
        return replicas.entrySet().stream()
                .filter(partition -> partition.getValue() == fewest)
                .map(partition -> partition.getKey().toString())
                .collect(Collectors.joining(","));
    }

    /** Returns the effective value of a config; the empty text if the brokers do not report it. */
    String config(String name) {
        return value(config, name);
    }

    static String value(Config config, String name) {
        ConfigEntry entry = config.get(name);
        return entry == null || entry.value() == null ? "" : entry.value();
    }

    /**
     * Reads topics. Their config entries have synonyms, which show the value that applies if the entry is removed.
     *
     * @return the topics by name
     * @throws org.apache.kafka.common.errors.UnknownTopicOrPartitionException if one of them does not exist
     * @throws org.apache.kafka.common.KafkaException if the cluster is unreachable
     */
    static SortedMap<String, ClusterTopic> read(Admin admin, Set<String> names) {
        List<ConfigResource> resources = names.stream()
                .map(name -> new ConfigResource(ConfigResource.Type.TOPIC, name))
                .toList();
        Map<ConfigResource, Config> configs = RegistryTopics.await(
                admin.describeConfigs(resources, new DescribeConfigsOptions().includeSynonyms(true))
                        .all());
        SortedMap<String, ClusterTopic> topics = new TreeMap<>();
        RegistryTopics.await(admin.describeTopics(names).allTopicNames()).forEach((name, topic) -> {
            SortedMap<Integer, Integer> replicas = new TreeMap<>();
            topic.partitions()
                    .forEach(partition -> replicas.put(
                            partition.partition(), partition.replicas().size()));
            Config config = configs.get(new ConfigResource(ConfigResource.Type.TOPIC, name));
            topics.put(name, new ClusterTopic(name, replicas, config == null ? new Config(List.of()) : config));
        });
        return topics;
    }
}

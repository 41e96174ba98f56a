package dev.puri.registry;

import dev.puri.schemas.log.Topics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/**
 * Defines the partitions and the configuration that the registry's topics must have. {@link #create} creates the
 * topics, and {@link #check} checks the topics of a cluster. The topology does not start on unsuitable topics, because
 * they would lose identities or keep erased data.
 */
public final class RegistryTopics {
    /** Default number of partitions of a new events topic. The number of partitions of a topic must never change. */
    public static final int DEFAULT_PARTITIONS = 8;

    /** Each topic removes the names and texts of an erased identity within this time. */
    static final Duration ERASURE_LIMIT = Duration.ofDays(30);

    private static final Duration MIN_COMPACTION_LAG = Duration.ofMinutes(5);
    private static final Duration MAX_COMPACTION_LAG = Duration.ofDays(1);
    private static final Duration TOMBSTONE_RETENTION = Duration.ofDays(7);
    private static final Duration GRANT_RETENTION = Duration.ofDays(1);
    private static final Duration GRANT_SEGMENT = Duration.ofDays(7);
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final int MAX_READ_ATTEMPTS = 100;

    /** With at least this replication factor, topics must have {@code min.insync.replicas=2}. */
    static final int SAFE_REPLICATION = 3;

    static final String MIN_INSYNC = "min.insync.replicas";
    static final String REQUIRED_MIN_INSYNC = "2";

    /** Prevents a replica that lacks committed records from becoming the leader. */
    private static final Map<String, String> SAFE_LEADERS = Map.of("unclean.leader.election.enable", "false");

    static final Map<String, String> COMPACTED_CONFIG = merged(
            SAFE_LEADERS,
            Map.of(
                    "cleanup.policy", "compact",
                    "max.compaction.lag.ms", millis(MAX_COMPACTION_LAG),
                    "segment.ms", millis(MAX_COMPACTION_LAG),
                    "delete.retention.ms", millis(TOMBSTONE_RETENTION)));

    /**
     * For topics with digests. A server that reads late would miss a record before a digest if a record after the
     * digest had superseded it. Compaction keeps the superseded records for this lag, so a server can compare its copy
     * with every digest that is younger than the lag. Digests are published once a minute.
     */
    private static final Map<String, String> MIN_COMPACTION_LAG_CONFIG =
            Map.of("min.compaction.lag.ms", millis(MIN_COMPACTION_LAG));

    private static final Map<String, String> DIGESTED_CONFIG = merged(COMPACTED_CONFIG, MIN_COMPACTION_LAG_CONFIG);

    /**
     * For topics whose records are deleted by age and not by size, also for repartition topics: Kafka Streams deletes
     * their records, but not those in the active segment.
     */
    private static final Map<String, String> RETENTION_CONFIG = merged(
            SAFE_LEADERS,
            Map.of(
                    "cleanup.policy",
                    "delete",
                    "retention.bytes",
                    "-1",
                    "retention.ms",
                    millis(ERASURE_LIMIT),
                    "segment.ms",
                    millis(MAX_COMPACTION_LAG)));

    /** With LogAppendTime, because an event with a producer's timestamp far in the future would never be deleted. */
    private static final Map<String, String> APPEND_TIME_RETENTION_CONFIG =
            merged(RETENTION_CONFIG, Map.of("message.timestamp.type", "LogAppendTime"));

    /**
     * Limits the uncompressed size of the batches that services write. By default Kafka applies the limit to the
     * compressed size: 300 MB of zeros compress to 10 KB, and a consumer that decompresses them runs out of memory at
     * each start. If the broker stores batches uncompressed, it applies the limit to the uncompressed size. The limit
     * is Kafka's default.
     */
    private static final Map<String, String> BATCH_LIMITS =
            Map.of("compression.type", "uncompressed", "max.message.bytes", Integer.toString((1 << 20) + 12));

    private static final Map<String, String> EVENTS_CONFIG = merged(APPEND_TIME_RETENTION_CONFIG, BATCH_LIMITS);

    private static final Map<String, String> GRANTS_CONFIG = merged(
            RETENTION_CONFIG, Map.of("retention.ms", millis(GRANT_RETENTION), "segment.ms", millis(GRANT_SEGMENT)));

    private RegistryTopics() {}

    /**
     * The required partitions and configuration of a topic.
     *
     * @param isKeyedByPuri whether the topic has as many partitions as the events topic; otherwise it has one partition
     */
    private record TopicSpec(String name, boolean isKeyedByPuri, Map<String, String> configs) {
        int partitions(int eventPartitions) {
            return isKeyedByPuri ? eventPartitions : 1;
        }
    }

    private static final List<TopicSpec> SPECS = List.of(
            new TopicSpec(Topics.EVENTS, true, EVENTS_CONFIG),
            new TopicSpec(Topics.IDENTITIES, true, DIGESTED_CONFIG),
            new TopicSpec(Topics.DOCUMENTS, true, DIGESTED_CONFIG),
            new TopicSpec(Topics.GRANTS, true, GRANTS_CONFIG),
            new TopicSpec(Topics.REJECTIONS, true, APPEND_TIME_RETENTION_CONFIG),
            new TopicSpec(Topics.COLLECTIONS, false, COMPACTED_CONFIG));

    /** Returns the names of the topics that each registry has. The events topics of namespaces are not included. */
    public static Set<String> names() {
        return SPECS.stream().map(TopicSpec::name).collect(Collectors.toUnmodifiableSet());
    }

    /**
     * A topic that exists after {@link #create}.
     *
     * @param replicationFactor number of replicas of the partition that has the fewest
     * @param changes configs of an existing topic that were changed, each as {@code NAME=VALUE (was VALUE)}
     */
    public record TopicState(String name, int partitions, int replicationFactor, boolean isNew, List<String> changes) {}

    /**
     * Creates missing topics. Of existing topics it changes only configs whose change deletes no records: the
     * compression and the maximum batch size of events topics, without which a batch can crash consumers, and the
     * minimum compaction lag of topics with digests, without which servers cannot compare their copies.
     *
     * @param partitions number of partitions of the events topic and of all other topics keyed by pURI; must
     *     never change
     * @param replicationFactor replication factor of each new topic; -1 for the cluster's default
     * @param ownedNamespaces namespaces that get their own events topic
     * @throws KafkaException if the cluster is unreachable or rejects the request
     */
    public static List<TopicState> create(
            Admin admin, int partitions, short replicationFactor, Set<String> ownedNamespaces) {
        List<NewTopic> requiredTopics = new ArrayList<>();
        for (TopicSpec spec : SPECS) {
            requiredTopics.add(newTopic(spec.name(), spec.partitions(partitions), replicationFactor, spec.configs()));
        }
        for (String namespace : ownedNamespaces) {
            requiredTopics.add(newTopic(Topics.eventsTopicOf(namespace), partitions, replicationFactor, EVENTS_CONFIG));
        }
        List<String> createdNames = new ArrayList<>();
        admin.createTopics(requiredTopics).values().forEach((name, future) -> {
            try {
                await(future);
                createdNames.add(name);
            } catch (TopicExistsException e) {
                // check() checks the configuration of existing topics.
            }
        });
        Map<String, List<String>> changes = adjust(admin, createdNames);
        Set<String> names = requiredTopics.stream().map(NewTopic::name).collect(Collectors.toUnmodifiableSet());
        return readNewTopics(admin, names).values().stream()
                .map(topic -> new TopicState(
                        topic.name(),
                        topic.partitions(),
                        topic.replicationFactor(),
                        createdNames.contains(topic.name()),
                        changes.getOrDefault(topic.name(), List.of())))
                .toList();
    }

    /**
     * Sets, on existing topics, the configs that can be changed without deleting records: the limits of batches and the
     * minimum compaction lag. Returns the changes by topic.
     */
    private static Map<String, List<String>> adjust(Admin admin, List<String> createdNames) {
        List<ConfigResource> existingTopics = await(admin.listTopics().names()).stream()
                .filter(name -> !adjustedConfigs(name).isEmpty() && !createdNames.contains(name))
                .map(name -> new ConfigResource(ConfigResource.Type.TOPIC, name))
                .toList();
        Map<ConfigResource, Collection<AlterConfigOp>> operations = new LinkedHashMap<>();
        Map<String, List<String>> changes = new LinkedHashMap<>();
        await(admin.describeConfigs(existingTopics).all()).forEach((topic, config) -> {
            new TreeMap<>(adjustedConfigs(topic.name())).forEach((name, value) -> {
                ConfigRule rule = ConfigRule.of(name, value);
                String actual = ClusterTopic.value(config, name);
                if (!rule.allows(actual)) {
                    operations
                            .computeIfAbsent(topic, any -> new ArrayList<>())
                            .add(new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET));
                    changes.computeIfAbsent(topic.name(), any -> new ArrayList<>())
                            .add(name + "=" + value + " (was " + actual + ")");
                }
            });
        });
        if (!operations.isEmpty()) {
            await(admin.incrementalAlterConfigs(operations).all());
        }
        return changes;
    }

    private static Map<String, String> adjustedConfigs(String topic) {
        if (Topics.isEvents(topic)) {
            return BATCH_LIMITS;
        }
        return topic.equals(Topics.IDENTITIES) || topic.equals(Topics.DOCUMENTS) ? MIN_COMPACTION_LAG_CONFIG : Map.of();
    }

    /** Reads topics; retries, because a broker learns of a new topic some time after the controller has created it. */
    static SortedMap<String, ClusterTopic> readNewTopics(Admin admin, Set<String> names) {
        for (int attempt = 1; ; attempt++) {
            try {
                return ClusterTopic.read(admin, names);
            } catch (UnknownTopicOrPartitionException e) {
                if (attempt == MAX_READ_ATTEMPTS) {
                    throw e;
                }
                pause();
            }
        }
    }

    private static void pause() {
        try {
            Thread.sleep(100);
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    /**
     * Checks that the cluster's topics have the partitions, replicas and configuration with which {@link #create} and
     * Kafka Streams create them. {@link ConfigRule} says which other values are as good. The topology does not start on
     * topics with mistakes; it tolerates {@link #toleratedDifferences}.
     *
     * @param applicationId application id of the topology; the number of partitions of its internal topics shows
     *     whether that of the events topic has changed
     * @param replicationFactor minimum replication factor of each topic
     * @return a sentence for each mistake, with the remedy; empty if there are no mistakes
     * @throws KafkaException if the cluster is unreachable
     */
    public static List<String> check(Admin admin, String applicationId, int replicationFactor) {
        List<String> mistakes = new ArrayList<>(checkExistence(admin));
        SortedMap<String, ClusterTopic> clusterTopics = ClusterTopic.read(admin, existing(admin, applicationId));
        ClusterTopic events = clusterTopics.get(Topics.EVENTS);
        int required = events == null ? 0 : requiredPartitions(clusterTopics, events, applicationId);
        if (events != null && events.partitions() != required) {
            mistakes.add(Topics.EVENTS + " has " + events.partitions()
                    + " partitions, and all other topics that are keyed by"
                    + " pURI have " + required + ": the number must never change, so delete " + Topics.EVENTS
                    + " and create it with puri topics create, which takes the number from the other topics");
        }
        for (TopicSpec spec : SPECS) {
            ClusterTopic topic = clusterTopics.get(spec.name());
            if (topic != null && !spec.name().equals(Topics.EVENTS) && (events != null || !spec.isKeyedByPuri())) {
                checkPartitions(topic, spec.partitions(required), mistakes);
            }
        }
        for (ClusterTopic topic : clusterTopics.values()) {
            if (events != null
                    && InternalTopics.isInternal(topic.name(), applicationId)
                    && topic.partitions() != required) {
                mistakes.add(Topics.EVENTS + " has " + events.partitions() + " partitions and had "
                        + topic.partitions() + " when " + topic.name()
                        + " was created: the number must never change, so recreate " + Topics.EVENTS + " with "
                        + topic.partitions() + " partitions");
            }
            checkConfigs(topic, requiredConfigs(topic.name()), mistakes);
            checkReplicas(topic, replicationFactor, mistakes);
        }
        return mistakes;
    }

    /**
     * Compares the cluster's topics with those that {@link #create} and Kafka Streams create, in what the topology
     * tolerates: the number of partitions of the events topics of namespaces, and configs that are not set when a topic
     * is created ({@link ConfigOverrides}).
     *
     * @param applicationId application id of the topology
     * @return a sentence for each difference, with the remedy
     * @throws KafkaException if the cluster is unreachable
     */
    public static List<String> toleratedDifferences(Admin admin, String applicationId) {
        SortedMap<String, ClusterTopic> clusterTopics = ClusterTopic.read(admin, existing(admin, applicationId));
        ClusterTopic events = clusterTopics.get(Topics.EVENTS);
        int required = events == null ? 0 : requiredPartitions(clusterTopics, events, applicationId);
        // A wrong events topic is a mistake for check(), and no topic must become like it.
        boolean isEventsRight = events != null && events.partitions() == required;
        List<String> differences = new ArrayList<>();
        for (ClusterTopic topic : clusterTopics.values()) {
            if (isEventsRight && Topics.isEvents(topic.name()) && topic.partitions() != required) {
                differences.add(partitionDifference(topic, required));
            }
            differences.addAll(ConfigOverrides.differences(topic, configNamesAtCreation(topic.name(), applicationId)));
        }
        return differences;
    }

    /**
     * Returns how a namespace's events topic differs from the shared one, with the remedy. A topic that has events must
     * not be recreated, because its offsets would begin again, and tokens contain offsets.
     */
    private static String partitionDifference(ClusterTopic topic, int required) {
        String difference =
                topic.name() + " has " + topic.partitions() + " partitions, and " + Topics.EVENTS + " has " + required;
        return topic.partitions() < required
                ? difference + "; add partitions while nobody publishes to it, so that the events of a pURI keep their"
                        + " order: kafka-topics --bootstrap-server HOST:PORT --alter --topic " + topic.name()
                        + " --partitions " + required
                : difference + "; the number can never be reduced, so delete and recreate it before services publish to"
                        + " it";
    }

    /** Returns the names of the configs that are set when a topic is created. */
    private static Set<String> configNamesAtCreation(String topic, String applicationId) {
        Set<String> names = new HashSet<>(requiredConfigs(topic).keySet());
        if (InternalTopics.isInternal(topic, applicationId)) {
            names.addAll(internalConfigs().keySet());
            // Kafka Streams sets it for each internal topic.
            names.add("message.timestamp.type");
        }
        return names;
    }

    /**
     * Returns the number of partitions that the topics keyed by pURI and the internal topics must have. It is that of
     * the events topic, except if all others agree on another number: then the events topic was recreated, or got
     * partitions.
     */
    private static int requiredPartitions(
            SortedMap<String, ClusterTopic> clusterTopics, ClusterTopic events, String applicationId) {
        List<Integer> others = keyedTopics(applicationId).stream()
                .filter(name -> !name.equals(Topics.EVENTS))
                .flatMap(name -> Stream.ofNullable(clusterTopics.get(name)))
                .map(ClusterTopic::partitions)
                .distinct()
                .toList();
        return others.size() == 1 ? others.getFirst() : events.partitions();
    }

    /**
     * Returns the names of the topics that must have the same number of partitions, whether they exist or not: the
     * events topic, the other topics that are keyed by pURI, and the internal topics, in this order. The events topics
     * of namespaces are not included.
     *
     * @param applicationId application id of the topology
     */
    public static List<String> keyedTopics(String applicationId) {
        return Stream.concat(
                        SPECS.stream().filter(TopicSpec::isKeyedByPuri).map(TopicSpec::name),
                        InternalTopics.names(applicationId))
                .toList();
    }

    /** Returns the names of the existing topics of the registry and of the topology. */
    private static Set<String> existing(Admin admin, String applicationId) {
        return await(admin.listTopics().names()).stream()
                .filter(name -> Topics.isEvents(name)
                        || names().contains(name)
                        || InternalTopics.isInternal(name, applicationId))
                .collect(Collectors.toUnmodifiableSet());
    }

    /** Returns the required configuration of a topic of the registry or of the topology. */
    private static Map<String, String> requiredConfigs(String topic) {
        if (Topics.isEvents(topic)) {
            return EVENTS_CONFIG;
        }
        return SPECS.stream()
                .filter(spec -> spec.name().equals(topic))
                .map(TopicSpec::configs)
                .findFirst()
                .orElse(topic.endsWith(InternalTopics.CHANGELOG_SUFFIX) ? COMPACTED_CONFIG : RETENTION_CONFIG);
    }

    /**
     * Returns the configs that Kafka Streams gives to each internal topic that it creates: those of changelogs and of
     * repartition topics. It sets the cleanup policy itself.
     */
    static Map<String, String> internalConfigs() {
        Map<String, String> configs = new LinkedHashMap<>(merged(COMPACTED_CONFIG, RETENTION_CONFIG));
        configs.remove("cleanup.policy");
        return configs;
    }

    /** Checks that all topics exist. Returns a sentence for each missing topic. */
    static List<String> checkExistence(Admin admin) {
        Set<String> names = await(admin.listTopics().names());
        return SPECS.stream()
                .map(TopicSpec::name)
                .filter(name -> !names.contains(name))
                .map(name -> name + " is missing: create it with puri topics create")
                .toList();
    }

    /** Returns the number of {@link #partitions(Admin, String)} of the events topic. */
    static int partitions(Admin admin) {
        return partitions(admin, Topics.EVENTS);
    }

    /**
     * Returns the number of partitions of a topic.
     *
     * @throws KafkaException if the cluster is unreachable or has no such topic
     */
    static int partitions(Admin admin, String topic) {
        return await(admin.describeTopics(Set.of(topic)).allTopicNames())
                .values()
                .iterator()
                .next()
                .partitions()
                .size();
    }

    static NewTopic newTopic(String name, int partitions, short replicationFactor, Map<String, String> configs) {
        Map<String, String> allConfigs = new LinkedHashMap<>(configs);
        if (replicationFactor >= SAFE_REPLICATION) {
            allConfigs.put(MIN_INSYNC, REQUIRED_MIN_INSYNC);
        }
        return new NewTopic(
                        name,
                        Optional.of(partitions),
                        replicationFactor < 0 ? Optional.empty() : Optional.of(replicationFactor))
                .configs(allConfigs);
    }

    private static void checkPartitions(ClusterTopic topic, int required, List<String> mistakes) {
        if (topic.partitions() != required) {
            mistakes.add(topic.name() + " has " + topic.partitions() + " partitions and must have " + required
                    + (required == 1 ? "" : ", as " + Topics.EVENTS + " has") + ": delete and recreate it");
        }
    }

    private static void checkConfigs(ClusterTopic topic, Map<String, String> required, List<String> mistakes) {
        Map<String, ConfigRule> rules = new TreeMap<>();
        required.forEach((name, value) -> rules.put(name, ConfigRule.of(name, value)));
        rules.putIfAbsent(ConfigRule.MAX_MESSAGE_BYTES, ConfigRule.LARGEST_RECORD);
        rules.forEach((name, rule) -> {
            String actual = topic.config(name);
            if (!rule.allows(actual)) {
                mistakes.add(topic.name() + " has " + name + "=" + actual + " and must have " + rule.expectation()
                        + alterCommand(topic, name, rule.created()));
            }
        });
    }

    private static void checkReplicas(ClusterTopic topic, int replicationFactor, List<String> mistakes) {
        int replicas = topic.replicationFactor();
        if (replicas < replicationFactor) {
            mistakes.add(topic.name() + " has the replication factor " + replicas
                    + (topic.isEvenlyReplicated() ? "" : " in the partitions " + topic.leastReplicatedPartitions())
                    + " and must have at least " + replicationFactor + ": reassign it with kafka-reassign-partitions");
        }
        ConfigRule minInsync = ConfigRule.of(MIN_INSYNC, REQUIRED_MIN_INSYNC);
        String actual = topic.config(MIN_INSYNC);
        if (replicationFactor >= SAFE_REPLICATION && !minInsync.allows(actual)) {
            mistakes.add(topic.name() + " has " + MIN_INSYNC + "=" + actual + " and must have "
                    + minInsync.expectation() + alterCommand(topic, MIN_INSYNC, REQUIRED_MIN_INSYNC));
        } else if (ConfigRule.of(MIN_INSYNC, Integer.toString(replicas + 1)).allows(actual)) {
            String repaired = replicas >= SAFE_REPLICATION ? REQUIRED_MIN_INSYNC : "1";
            mistakes.add(topic.name() + " has " + MIN_INSYNC + "=" + actual + " and only " + replicas
                    + (replicas == 1 ? " replica" : " replicas") + ", so that nothing can be written to it"
                    + alterCommand(topic, MIN_INSYNC, repaired));
        }
    }

    private static String alterCommand(ClusterTopic topic, String config, String value) {
        return alterCommand(topic.name()) + "--add-config " + config + "=" + value;
    }

    /** Returns the beginning of a command that changes configs of a topic. */
    static String alterCommand(String topic) {
        return ": kafka-configs --bootstrap-server HOST:PORT --alter --topic " + topic + " ";
    }

    static <T> T await(KafkaFuture<T> future) {
        try {
            return future.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof KafkaException cause ? cause : new KafkaException(e.getCause());
        } catch (TimeoutException e) {
            throw new org.apache.kafka.common.errors.TimeoutException(
                    "the cluster did not answer within " + TIMEOUT.toSeconds() + " s", e);
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    private static Map<String, String> merged(Map<String, String> first, Map<String, String> second) {
        Map<String, String> merged = new LinkedHashMap<>(first);
        merged.putAll(second);
        return Map.copyOf(merged);
    }

    private static String millis(Duration duration) {
        return Long.toString(duration.toMillis());
    }
}

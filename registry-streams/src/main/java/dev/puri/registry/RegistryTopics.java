package dev.puri.registry;

import dev.puri.schemas.log.Topics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
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
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.Config;
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
    /** Default number of partitions of a new events topic. The number of partitions of a topic can never change. */
    public static final int DEFAULT_PARTITIONS = 8;

    /** Each topic removes the names and texts of an erased identity within this time. */
    static final Duration ERASURE_LIMIT = Duration.ofDays(30);

    private static final Duration COMPACTION_LAG = Duration.ofDays(1);
    private static final Duration TOMBSTONE_RETENTION = Duration.ofDays(7);
    private static final Duration GRANT_RETENTION = Duration.ofDays(1);
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final int MAX_READ_ATTEMPTS = 100;

    /** With at least this replication factor, topics must have {@code min.insync.replicas=2}. */
    static final int SAFE_REPLICATION = 3;

    static final String MIN_INSYNC = "min.insync.replicas";
    static final String REQUIRED_MIN_INSYNC = "2";

    private static final Map<String, String> COMPACTED = Map.of(
            "cleanup.policy", "compact",
            "max.compaction.lag.ms", millis(COMPACTION_LAG),
            "segment.ms", millis(COMPACTION_LAG),
            "delete.retention.ms", millis(TOMBSTONE_RETENTION));

    /** With LogAppendTime, because an event with a producer's timestamp far in the future would not expire. */
    private static final Map<String, String> EXPIRING = Map.of(
            "cleanup.policy",
            "delete",
            "retention.ms",
            millis(ERASURE_LIMIT),
            "segment.ms",
            millis(COMPACTION_LAG),
            "message.timestamp.type",
            "LogAppendTime");

    /**
     * Limits the uncompressed size of the batches that services write. By default Kafka applies the limit to the
     * compressed size: 300 MB of zeros compress to 10 KB, and a consumer that decompresses them runs out of memory at
     * each start. If the broker stores batches uncompressed, it applies the limit to the uncompressed size. The limit
     * is Kafka's default.
     */
    private static final Map<String, String> BATCH_LIMITS =
            Map.of("compression.type", "uncompressed", "max.message.bytes", Integer.toString((1 << 20) + 12));

    private static final Map<String, String> EVENTS_CONFIG = merged(EXPIRING, BATCH_LIMITS);

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
            new TopicSpec(Topics.IDENTITIES, true, COMPACTED),
            new TopicSpec(Topics.DOCUMENTS, true, COMPACTED),
            new TopicSpec(
                    Topics.GRANTS, true, Map.of("cleanup.policy", "delete", "retention.ms", millis(GRANT_RETENTION))),
            new TopicSpec(Topics.REJECTIONS, true, EXPIRING),
            new TopicSpec(Topics.COLLECTIONS, false, COMPACTED));

    /** Returns the names of the topics that each registry has. The events topics of namespaces are not included. */
    public static Set<String> names() {
        return SPECS.stream().map(TopicSpec::name).collect(Collectors.toUnmodifiableSet());
    }

    /** A topic that exists after {@link #create}. */
    public record TopicState(String name, int partitions, int replicationFactor, boolean isNew) {}

    /**
     * Creates missing topics. Of existing topics it changes only the compression and the maximum batch size of events
     * topics: this loses no data, and otherwise a batch can crash consumers.
     *
     * @param partitions number of partitions of the events topic and of all other topics keyed by pURI; can never
     *     change
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
        limitBatches(admin, createdNames);
        Set<String> names = requiredTopics.stream().map(NewTopic::name).collect(Collectors.toUnmodifiableSet());
        return readNewTopics(admin, names).topics().values().stream()
                .map(topic -> new TopicState(
                        topic.name(),
                        topic.partitions(),
                        topic.replicationFactor(),
                        createdNames.contains(topic.name())))
                .toList();
    }

    /** Sets the limits of batches on existing events topics. */
    private static void limitBatches(Admin admin, List<String> createdNames) {
        List<ConfigResource> existingTopics = await(admin.listTopics().names()).stream()
                .filter(name -> Topics.isEvents(name) && !createdNames.contains(name))
                .map(name -> new ConfigResource(ConfigResource.Type.TOPIC, name))
                .toList();
        Map<ConfigResource, Collection<AlterConfigOp>> changes = new LinkedHashMap<>();
        await(admin.describeConfigs(existingTopics).all()).forEach((topic, config) -> {
            List<AlterConfigOp> operations = new ArrayList<>();
            BATCH_LIMITS.forEach((name, value) -> {
                if (!Constraint.of(name).allows(value(config, name), value)) {
                    operations.add(new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET));
                }
            });
            if (!operations.isEmpty()) {
                changes.put(topic, operations);
            }
        });
        if (!changes.isEmpty()) {
            await(admin.incrementalAlterConfigs(changes).all());
        }
    }

    /** Reads topics; retries, because a broker may learn of a new topic only after the controller has created it. */
    private static ClusterTopics readNewTopics(Admin admin, Set<String> names) {
        for (int attempt = 1; ; attempt++) {
            try {
                return ClusterTopics.read(admin, names);
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
     * Checks that the cluster's topics have the required partitions and configuration.
     *
     * @param applicationId application id of the topology; the number of partitions of its internal topics shows
     *     whether that of the events topic has changed
     * @param replicationFactor minimum replication factor of each topic
     * @return a sentence for each mistake, with the remedy; empty if there are no mistakes
     * @throws KafkaException if the cluster is unreachable
     */
    public static List<String> check(Admin admin, String applicationId, int replicationFactor) {
        List<String> mistakes = new ArrayList<>(missing(admin));
        if (!mistakes.isEmpty()) {
            return mistakes;
        }
        Set<String> names = await(admin.listTopics().names());
        ClusterTopics clusterTopics = ClusterTopics.read(
                admin,
                names.stream()
                        .filter(name ->
                                Topics.isEvents(name) || isRegistryTopic(name) || isInternal(name, applicationId))
                        .collect(Collectors.toUnmodifiableSet()));
        int partitions = clusterTopics.topic(Topics.EVENTS).partitions();
        for (TopicSpec spec : SPECS) {
            checkPartitions(clusterTopics.topic(spec.name()), spec.partitions(partitions), mistakes);
            checkConfigs(clusterTopics.topic(spec.name()), spec.configs(), mistakes);
        }
        for (ClusterTopic topic : clusterTopics.topics().values()) {
            if (isInternal(topic.name(), applicationId) && topic.partitions() != partitions) {
                mistakes.add(Topics.EVENTS + " has " + partitions + " partitions and had " + topic.partitions()
                        + " when " + topic.name() + " was created: the number can never change, so recreate "
                        + Topics.EVENTS + " with " + topic.partitions() + " partitions");
            } else if (Topics.isEvents(topic.name()) && !isRegistryTopic(topic.name())) {
                checkConfigs(topic, EVENTS_CONFIG, mistakes);
            }
            if (replicationFactor >= SAFE_REPLICATION) {
                checkConfigs(topic, Map.of(MIN_INSYNC, REQUIRED_MIN_INSYNC), mistakes);
            }
            if (topic.replicationFactor() < replicationFactor) {
                mistakes.add(topic.name() + " has the replication factor " + topic.replicationFactor()
                        + " and must have at least " + replicationFactor
                        + ": reassign it with kafka-reassign-partitions");
            }
        }
        return mistakes;
    }

    /** Returns a sentence for each missing topic. */
    static List<String> missing(Admin admin) {
        Set<String> names = await(admin.listTopics().names());
        return SPECS.stream()
                .map(TopicSpec::name)
                .filter(name -> !names.contains(name))
                .map(name -> name + " is missing: create it with puri topics create")
                .toList();
    }

    /**
     * Returns the number of partitions of the events topic.
     *
     * @throws KafkaException if the cluster is unreachable or has no such topic
     */
    static int partitions(Admin admin) {
        return ClusterTopics.read(admin, Set.of(Topics.EVENTS))
                .topic(Topics.EVENTS)
                .partitions();
    }

    /** A topic of the cluster. */
    private record ClusterTopic(String name, int partitions, int replicationFactor, Config config) {
        String config(String name) {
            return value(config, name);
        }
    }

    private static String value(Config config, String name) {
        ConfigEntry entry = config.get(name);
        return entry == null || entry.value() == null ? "" : entry.value();
    }

    /** Topics of the cluster, by name. */
    private record ClusterTopics(SortedMap<String, ClusterTopic> topics) {
        static ClusterTopics read(Admin admin, Set<String> names) {
            Map<ConfigResource, Config> configs = await(admin.describeConfigs(names.stream()
                            .map(name -> new ConfigResource(ConfigResource.Type.TOPIC, name))
                            .toList())
                    .all());
            SortedMap<String, ClusterTopic> topics = new TreeMap<>();
            await(admin.describeTopics(names).allTopicNames()).forEach((name, topic) -> {
                Config config = configs.get(new ConfigResource(ConfigResource.Type.TOPIC, name));
                int replicas = topic.partitions().getFirst().replicas().size();
                topics.put(
                        name,
                        new ClusterTopic(
                                name,
                                topic.partitions().size(),
                                replicas,
                                config == null ? new Config(List.of()) : config));
            });
            return new ClusterTopics(topics);
        }

        ClusterTopic topic(String name) {
            ClusterTopic topic = topics.get(name);
            if (topic == null) {
                throw new UnknownTopicOrPartitionException("the cluster has no topic " + name);
            }
            return topic;
        }
    }

    private static NewTopic newTopic(
            String name, int partitions, short replicationFactor, Map<String, String> configs) {
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
        new TreeMap<>(required).forEach((name, value) -> {
            String actual = topic.config(name);
            Constraint constraint = Constraint.of(name);
            if (!constraint.allows(actual, value)) {
                mistakes.add(topic.name() + " has " + name + "=" + actual + " and must have " + constraint.phrase
                        + value + ": kafka-configs --alter --topic " + topic.name() + " --add-config " + name + "="
                        + value);
            }
        });
    }

    /** How a value in a topic's configuration must relate to the required value. */
    private enum Constraint {
        EXACTLY(""),
        AT_MOST("at most "),
        AT_LEAST("at least ");

        private final String phrase;

        Constraint(String phrase) {
            this.phrase = phrase;
        }

        static Constraint of(String config) {
            return switch (config) {
                case "retention.ms", "max.compaction.lag.ms", "segment.ms", "max.message.bytes" -> AT_MOST;
                case "delete.retention.ms", MIN_INSYNC -> AT_LEAST;
                default -> EXACTLY;
            };
        }

        boolean allows(String actual, String required) {
            return switch (this) {
                case EXACTLY -> actual.equals(required);
                // isNumber() is false for -1, which means "unlimited", and for the empty text of an absent value.
                case AT_MOST -> isNumber(actual) && Long.parseLong(actual) <= Long.parseLong(required);
                case AT_LEAST -> isNumber(actual) && Long.parseLong(actual) >= Long.parseLong(required);
            };
        }

        private static boolean isNumber(String text) {
            return text.matches("\\d{1,18}");
        }
    }

    private static boolean isRegistryTopic(String topic) {
        return names().contains(topic);
    }

    private static boolean isInternal(String topic, String applicationId) {
        return RegistryTopology.REPARTITION_TOPICS.stream().anyMatch(name -> topic.equals(applicationId + '-' + name))
                || RegistryTopology.CHANGELOG_STORES.stream()
                        .anyMatch(store -> topic.equals(applicationId + '-' + store + "-changelog"));
    }

    private static <T> T await(KafkaFuture<T> future) {
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

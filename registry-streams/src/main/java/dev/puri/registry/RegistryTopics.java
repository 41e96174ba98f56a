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
 * The required partitions and configuration of the registry's topics. {@link #create} creates the topics, and {@link
 * #check} compares those of a cluster. The topology does not start on unsuitable topics, because they would lose
 * identities or keep erased data.
 */
public final class RegistryTopics {
    /** The default number of partitions of the events topic. The number can never change. */
    public static final int DEFAULT_PARTITIONS = 8;

    /** The names and texts of an erased identity are removed from every topic within this time. */
    static final Duration ERASURE_LIMIT = Duration.ofDays(30);

    private static final Duration COMPACTION_LAG = Duration.ofDays(1);
    private static final Duration TOMBSTONE_RETENTION = Duration.ofDays(7);
    private static final Duration GRANT_RETENTION = Duration.ofDays(1);
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final int MAX_ATTEMPTS = 100;

    /** From this replication factor on, topics must have {@code min.insync.replicas=2}. */
    static final int SAFE_REPLICATION = 3;

    static final String MIN_INSYNC = "min.insync.replicas";
    static final String REQUIRED_MIN_INSYNC = "2";

    private static final Map<String, String> COMPACTED = Map.of(
            "cleanup.policy", "compact",
            "max.compaction.lag.ms", millis(COMPACTION_LAG),
            "segment.ms", millis(COMPACTION_LAG),
            "delete.retention.ms", millis(TOMBSTONE_RETENTION));

    /** LogAppendTime, because with a producer's timestamp in the future an event would never expire. */
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
     * Bounds the uncompressed size of batches, because any service produces events. Kafka compares the compressed size
     * with the limit: 300 MB of zeros compress to 10 KB, and a consumer that decompresses them runs out of memory at
     * every start. If the broker stores batches uncompressed, the limit, which is Kafka's default, applies to their
     * real size.
     */
    private static final Map<String, String> BOUNDED_BATCHES =
            Map.of("compression.type", "uncompressed", "max.message.bytes", Integer.toString((1 << 20) + 12));

    private static final Map<String, String> EVENTS = with(EXPIRING, BOUNDED_BATCHES);

    private RegistryTopics() {}

    /**
     * The required partitions and configuration of a topic.
     *
     * @param isKeyedByPuri whether it has as many partitions as the events topic; otherwise it has one
     */
    private record TopicSpec(String name, boolean isKeyedByPuri, Map<String, String> configs) {
        int partitions(int eventPartitions) {
            return isKeyedByPuri ? eventPartitions : 1;
        }
    }

    private static final List<TopicSpec> SPECS = List.of(
            new TopicSpec(Topics.EVENTS, true, EVENTS),
            new TopicSpec(Topics.IDENTITIES, true, COMPACTED),
            new TopicSpec(Topics.DOCUMENTS, true, COMPACTED),
            new TopicSpec(
                    Topics.GRANTS, true, Map.of("cleanup.policy", "delete", "retention.ms", millis(GRANT_RETENTION))),
            new TopicSpec(Topics.REJECTIONS, true, EXPIRING),
            new TopicSpec(Topics.COLLECTIONS, false, COMPACTED));

    /** The names of the topics that every registry has; namespaces may have further events topics. */
    public static Set<String> names() {
        return SPECS.stream().map(TopicSpec::name).collect(Collectors.toUnmodifiableSet());
    }

    /** A topic after {@link #create}. */
    public record TopicState(String name, int partitions, int replicationFactor, boolean isNew) {}

    /**
     * Creates missing topics. Existing topics are not changed, except for compression and maximum batch size of events
     * topics: setting them loses no data, and without them a batch can crash consumers.
     *
     * @param partitions number of partitions of the events topic and of all topics keyed by pURI; can never change
     * @param replicationFactor of each topic; -1 for the cluster's default
     * @param ownedNamespaces namespaces that get an events topic of their own
     * @throws KafkaException if the cluster is unreachable or rejects the request
     */
    public static List<TopicState> create(
            Admin admin, int partitions, short replicationFactor, Set<String> ownedNamespaces) {
        List<NewTopic> wanted = new ArrayList<>();
        for (TopicSpec spec : SPECS) {
            wanted.add(newTopic(spec.name(), spec.partitions(partitions), replicationFactor, spec.configs()));
        }
        for (String namespace : ownedNamespaces) {
            wanted.add(newTopic(Topics.eventsOf(namespace), partitions, replicationFactor, EVENTS));
        }
        List<String> created = new ArrayList<>();
        admin.createTopics(wanted).values().forEach((name, future) -> {
            try {
                get(future);
                created.add(name);
            } catch (TopicExistsException e) {
                // check() verifies existing topics.
            }
        });
        boundEventBatches(admin, created);
        Set<String> names = wanted.stream().map(NewTopic::name).collect(Collectors.toUnmodifiableSet());
        return readNewTopics(admin, names).topics().values().stream()
                .map(topic -> new TopicState(
                        topic.name(), topic.partitions(), topic.replicationFactor(), created.contains(topic.name())))
                .toList();
    }

    private static void boundEventBatches(Admin admin, List<String> created) {
        List<ConfigResource> existing = get(admin.listTopics().names()).stream()
                .filter(name -> Topics.isEvents(name) && !created.contains(name))
                .map(name -> new ConfigResource(ConfigResource.Type.TOPIC, name))
                .toList();
        Map<ConfigResource, Collection<AlterConfigOp>> changes = new LinkedHashMap<>();
        get(admin.describeConfigs(existing).all()).forEach((topic, config) -> {
            List<AlterConfigOp> wanted = new ArrayList<>();
            BOUNDED_BATCHES.forEach((name, value) -> {
                if (!Constraint.of(name).allows(value(config, name), value)) {
                    wanted.add(new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET));
                }
            });
            if (!wanted.isEmpty()) {
                changes.put(topic, wanted);
            }
        });
        if (!changes.isEmpty()) {
            get(admin.incrementalAlterConfigs(changes).all());
        }
    }

    /** Retries, because a broker may learn of a new topic a moment after the controller has created it. */
    private static ClusterTopics readNewTopics(Admin admin, Set<String> names) {
        for (int attempt = 1; ; attempt++) {
            try {
                return ClusterTopics.read(admin, names);
            } catch (UnknownTopicOrPartitionException e) {
                if (attempt == MAX_ATTEMPTS) {
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
     * Compares the cluster's topics with the required ones.
     *
     * @param applicationId application id of the topology, whose internal topics have the original number of partitions
     * @param replicationFactor the minimum for each topic
     * @return a sentence for each mistake, with the remedy; empty if there are none
     * @throws KafkaException if the cluster is unreachable
     */
    public static List<String> check(Admin admin, String applicationId, int replicationFactor) {
        List<String> mistakes = new ArrayList<>(missing(admin));
        if (!mistakes.isEmpty()) {
            return mistakes;
        }
        Set<String> names = get(admin.listTopics().names());
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
                        + " when " + topic.name()
                        + " was created: the number is fixed for ever, so recreate the topic with the old one");
            } else if (Topics.isEvents(topic.name()) && !isRegistryTopic(topic.name())) {
                checkConfigs(topic, EVENTS, mistakes);
            }
            if (replicationFactor >= SAFE_REPLICATION) {
                checkConfigs(topic, Map.of(MIN_INSYNC, REQUIRED_MIN_INSYNC), mistakes);
            }
            if (topic.replicationFactor() < replicationFactor) {
                mistakes.add(topic.name() + " has the replication factor " + topic.replicationFactor() + ", at least "
                        + replicationFactor + " is asked for: reassign it with kafka-reassign-partitions");
            }
        }
        return mistakes;
    }

    /** Returns a sentence for each missing topic. */
    static List<String> missing(Admin admin) {
        Set<String> names = get(admin.listTopics().names());
        return SPECS.stream()
                .map(TopicSpec::name)
                .filter(name -> !names.contains(name))
                .map(name -> name + " is missing: make it with puri topics create")
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

    /** Topics of the cluster, read at one time. */
    private record ClusterTopics(SortedMap<String, ClusterTopic> topics) {
        static ClusterTopics read(Admin admin, Set<String> names) {
            Map<ConfigResource, Config> configs = get(admin.describeConfigs(names.stream()
                            .map(name -> new ConfigResource(ConfigResource.Type.TOPIC, name))
                            .toList())
                    .all());
            SortedMap<String, ClusterTopic> topics = new TreeMap<>();
            get(admin.describeTopics(names).allTopicNames()).forEach((name, topic) -> {
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
        Map<String, String> all = new LinkedHashMap<>(configs);
        if (replicationFactor >= SAFE_REPLICATION) {
            all.put(MIN_INSYNC, REQUIRED_MIN_INSYNC);
        }
        return new NewTopic(
                        name,
                        Optional.of(partitions),
                        replicationFactor < 0 ? Optional.empty() : Optional.of(replicationFactor))
                .configs(all);
    }

    private static void checkPartitions(ClusterTopic topic, int required, List<String> mistakes) {
        if (topic.partitions() != required) {
            mistakes.add(topic.name() + " has " + topic.partitions() + " partitions and must have " + required
                    + (required == 1 ? "" : ", as many as " + Topics.EVENTS) + ": delete and recreate it");
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

    /** How the value of a topic's configuration must relate to the required one. */
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
                // isNumber() excludes -1, which is Kafka's "unlimited", and the empty text of an absent value.
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

    private static <T> T get(KafkaFuture<T> future) {
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

    private static Map<String, String> with(Map<String, String> configs, Map<String, String> more) {
        Map<String, String> all = new LinkedHashMap<>(configs);
        all.putAll(more);
        return Map.copyOf(all);
    }

    private static String millis(Duration duration) {
        return Long.toString(duration.toMillis());
    }
}

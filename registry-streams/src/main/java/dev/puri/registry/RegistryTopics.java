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
 * The registry's topics: what each has to be, made by {@link #create} and held against the cluster by
 * {@link #check}. A topic that is wrong loses identities or keeps what was erased, so the topology does
 * not start on one.
 */
public final class RegistryTopics {
    /** Partitions of the events topic unless told otherwise. The number is fixed for ever. */
    public static final int DEFAULT_PARTITIONS = 8;

    /** Within this the text of an erased identity is gone from every topic. */
    static final Duration FORGET_WITHIN = Duration.ofDays(30);

    private static final Duration COMPACTION_LAG = Duration.ofDays(1);
    private static final Duration TOMBSTONES_KEPT = Duration.ofDays(7);
    private static final Duration GRANTS_KEPT = Duration.ofDays(1);
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final int PATIENCE = 100;

    /** From this many copies on, a write has to be on two of them before it counts. */
    static final int SAFE_REPLICATION = 3;

    static final String MIN_INSYNC = "min.insync.replicas";
    static final String MIN_INSYNC_WANTED = "2";

    private static final Map<String, String> COMPACTED = Map.of(
            "cleanup.policy", "compact",
            "max.compaction.lag.ms", millis(COMPACTION_LAG),
            "segment.ms", millis(COMPACTION_LAG),
            "delete.retention.ms", millis(TOMBSTONES_KEPT));

    /** Log append time, because a producer's own clock could keep an event from ever growing old. */
    private static final Map<String, String> FORGOTTEN = Map.of(
            "cleanup.policy",
            "delete",
            "retention.ms",
            millis(FORGET_WITHIN),
            "segment.ms",
            millis(COMPACTION_LAG),
            "message.timestamp.type",
            "LogAppendTime");

    /**
     * Anyone's producer writes events, and Kafka compares the size of a batch with the limit only as it arrived: 300 MB
     * of zeros compress to 10 KB, and a consumer that decompresses them runs out of memory at every start. Stored
     * uncompressed, no batch is larger than the limit says, which is Kafka's default.
     */
    private static final Map<String, String> BOUNDED_BATCHES =
            Map.of("compression.type", "uncompressed", "max.message.bytes", Integer.toString((1 << 20) + 12));

    private static final Map<String, String> EVENTS = with(FORGOTTEN, BOUNDED_BATCHES);

    private RegistryTopics() {}

    /**
     * One topic as it should be.
     *
     * @param isKeyedByPuri whether it has the events topic's partitions; otherwise one
     */
    private record Plan(String name, boolean isKeyedByPuri, Map<String, String> configs) {
        int partitions(int ofEvents) {
            return isKeyedByPuri ? ofEvents : 1;
        }
    }

    private static final List<Plan> PLANS = List.of(
            new Plan(Topics.EVENTS, true, EVENTS),
            new Plan(Topics.IDENTITIES, true, COMPACTED),
            new Plan(Topics.DOCUMENTS, true, COMPACTED),
            new Plan(Topics.GRANTS, true, Map.of("cleanup.policy", "delete", "retention.ms", millis(GRANTS_KEPT))),
            new Plan(Topics.REJECTIONS, true, FORGOTTEN),
            new Plan(Topics.COLLECTIONS, false, COMPACTED));

    /** The topics that every registry has; namespaces may own more. */
    public static Set<String> names() {
        return PLANS.stream().map(Plan::name).collect(Collectors.toUnmodifiableSet());
    }

    /** What one topic is, after {@link #create} or for a listing. */
    public record Standing(String name, int partitions, int replicationFactor, boolean isNew) {}

    /**
     * Makes the topics that are missing. Those that exist are left as they are, but for the compression and the
     * largest batch of events topics: both are set, because nothing is lost by it and readers are in danger without it.
     *
     * @param partitions of the events topic and of all that is keyed by pURI, fixed for ever
     * @param replicationFactor of each; -1 takes the cluster's default
     * @param ownedNamespaces namespaces that get an events topic of their own
     * @throws KafkaException when the cluster is out of reach or refuses
     */
    public static List<Standing> create(
            Admin admin, int partitions, short replicationFactor, Set<String> ownedNamespaces) {
        List<NewTopic> wanted = new ArrayList<>();
        for (Plan plan : PLANS) {
            wanted.add(newTopic(plan.name(), plan.partitions(partitions), replicationFactor, plan.configs()));
        }
        for (String namespace : ownedNamespaces) {
            wanted.add(newTopic(Topics.eventsOf(namespace), partitions, replicationFactor, EVENTS));
        }
        List<String> made = new ArrayList<>();
        admin.createTopics(wanted).values().forEach((name, future) -> {
            try {
                get(future);
                made.add(name);
            } catch (TopicExistsException e) {
                // It exists; check() tells whether it is right.
            }
        });
        boundBatchesOfEvents(admin, made);
        Set<String> names = wanted.stream().map(NewTopic::name).collect(Collectors.toUnmodifiableSet());
        return snapshotOfNew(admin, names).topics().values().stream()
                .map(topic -> new Standing(
                        topic.name(), topic.partitions(), topic.replicationFactor(), made.contains(topic.name())))
                .toList();
    }

    private static void boundBatchesOfEvents(Admin admin, List<String> made) {
        List<ConfigResource> existing = get(admin.listTopics().names()).stream()
                .filter(name -> Topics.isEvents(name) && !made.contains(name))
                .map(name -> new ConfigResource(ConfigResource.Type.TOPIC, name))
                .toList();
        Map<ConfigResource, Collection<AlterConfigOp>> changes = new LinkedHashMap<>();
        get(admin.describeConfigs(existing).all()).forEach((topic, config) -> {
            List<AlterConfigOp> wanted = new ArrayList<>();
            BOUNDED_BATCHES.forEach((name, value) -> {
                if (!Bound.of(name).allows(value(config, name), value)) {
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

    /** A broker may hear of a topic a moment after the controller has made it. */
    private static Snapshot snapshotOfNew(Admin admin, Set<String> names) {
        for (int attempt = 1; ; attempt++) {
            try {
                return Snapshot.take(admin, names);
            } catch (UnknownTopicOrPartitionException e) {
                if (attempt == PATIENCE) {
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
     * Holds the topics against what they have to be.
     *
     * @param applicationId of the topology, whose own topics show the number of partitions it began with
     * @param replicationFactor the least that each must have
     * @return what is wrong and what to change, a sentence each; empty when all is right
     * @throws KafkaException when the cluster is out of reach
     */
    public static List<String> check(Admin admin, String applicationId, int replicationFactor) {
        List<String> mistakes = new ArrayList<>(missing(admin));
        if (!mistakes.isEmpty()) {
            return mistakes;
        }
        Set<String> names = get(admin.listTopics().names());
        Snapshot snapshot = Snapshot.take(
                admin,
                names.stream()
                        .filter(name -> Topics.isEvents(name) || isPlanned(name) || isInternal(name, applicationId))
                        .collect(Collectors.toUnmodifiableSet()));
        int partitions = snapshot.topic(Topics.EVENTS).partitions();
        for (Plan plan : PLANS) {
            checkPartitions(snapshot.topic(plan.name()), plan.partitions(partitions), mistakes);
            checkConfigs(snapshot.topic(plan.name()), plan.configs(), mistakes);
        }
        for (Found topic : snapshot.topics().values()) {
            if (isInternal(topic.name(), applicationId) && topic.partitions() != partitions) {
                mistakes.add(Topics.EVENTS + " has " + partitions + " partitions and had " + topic.partitions()
                        + " when " + topic.name()
                        + " was made: the number is fixed for ever, so make the topic anew with the old one");
            } else if (Topics.isEvents(topic.name()) && !isPlanned(topic.name())) {
                checkConfigs(topic, EVENTS, mistakes);
            }
            if (replicationFactor >= SAFE_REPLICATION) {
                checkConfigs(topic, Map.of(MIN_INSYNC, MIN_INSYNC_WANTED), mistakes);
            }
            if (topic.replicationFactor() < replicationFactor) {
                mistakes.add(topic.name() + " has the replication factor " + topic.replicationFactor() + ", at least "
                        + replicationFactor + " is asked for: reassign it with kafka-reassign-partitions");
            }
        }
        return mistakes;
    }

    /** The topics that nobody has made yet, a sentence each. */
    static List<String> missing(Admin admin) {
        Set<String> names = get(admin.listTopics().names());
        return PLANS.stream()
                .map(Plan::name)
                .filter(name -> !names.contains(name))
                .map(name -> name + " is missing: make it with puri topics create")
                .toList();
    }

    /**
     * How many partitions the events topic has.
     *
     * @throws KafkaException when the cluster is out of reach or has no such topic
     */
    static int partitions(Admin admin) {
        return Snapshot.take(admin, Set.of(Topics.EVENTS)).topic(Topics.EVENTS).partitions();
    }

    /** A topic as the cluster has it. */
    private record Found(String name, int partitions, int replicationFactor, Config config) {
        String config(String name) {
            return value(config, name);
        }
    }

    private static String value(Config config, String name) {
        ConfigEntry entry = config.get(name);
        return entry == null || entry.value() == null ? "" : entry.value();
    }

    /** Some topics as the cluster has them at one moment. */
    private record Snapshot(SortedMap<String, Found> topics) {
        static Snapshot take(Admin admin, Set<String> names) {
            Map<ConfigResource, Config> configs = get(admin.describeConfigs(names.stream()
                            .map(name -> new ConfigResource(ConfigResource.Type.TOPIC, name))
                            .toList())
                    .all());
            SortedMap<String, Found> topics = new TreeMap<>();
            get(admin.describeTopics(names).allTopicNames()).forEach((name, topic) -> {
                Config config = configs.get(new ConfigResource(ConfigResource.Type.TOPIC, name));
                int replicas = topic.partitions().getFirst().replicas().size();
                topics.put(
                        name,
                        new Found(
                                name,
                                topic.partitions().size(),
                                replicas,
                                config == null ? new Config(List.of()) : config));
            });
            return new Snapshot(topics);
        }

        Found topic(String name) {
            Found found = topics.get(name);
            if (found == null) {
                throw new UnknownTopicOrPartitionException("the cluster has no topic " + name);
            }
            return found;
        }
    }

    private static NewTopic newTopic(
            String name, int partitions, short replicationFactor, Map<String, String> configs) {
        Map<String, String> all = new LinkedHashMap<>(configs);
        if (replicationFactor >= SAFE_REPLICATION) {
            all.put(MIN_INSYNC, MIN_INSYNC_WANTED);
        }
        return new NewTopic(
                        name,
                        Optional.of(partitions),
                        replicationFactor < 0 ? Optional.empty() : Optional.of(replicationFactor))
                .configs(all);
    }

    private static void checkPartitions(Found topic, int wanted, List<String> mistakes) {
        if (topic.partitions() != wanted) {
            mistakes.add(topic.name() + " has " + topic.partitions() + " partitions and must have " + wanted
                    + (wanted == 1 ? "" : ", as many as " + Topics.EVENTS) + ": delete it and make it anew");
        }
    }

    private static void checkConfigs(Found topic, Map<String, String> wanted, List<String> mistakes) {
        new TreeMap<>(wanted).forEach((name, value) -> {
            String has = topic.config(name);
            Bound bound = Bound.of(name);
            if (!bound.allows(has, value)) {
                mistakes.add(topic.name() + " has " + name + "=" + has + " and must have " + bound.words + value
                        + ": kafka-configs --alter --topic " + topic.name() + " --add-config " + name + "=" + value);
            }
        });
    }

    /** How a setting may differ from its plan without harm. */
    private enum Bound {
        EXACTLY(""),
        AT_MOST("at most "),
        AT_LEAST("at least ");

        private final String words;

        Bound(String words) {
            this.words = words;
        }

        static Bound of(String config) {
            return switch (config) {
                case "retention.ms", "max.compaction.lag.ms", "segment.ms", "max.message.bytes" -> AT_MOST;
                case "delete.retention.ms", MIN_INSYNC -> AT_LEAST;
                default -> EXACTLY;
            };
        }

        boolean allows(String has, String wanted) {
            return switch (this) {
                case EXACTLY -> has.equals(wanted);
                // Kafka writes "for ever" as -1, and a value that may not be seen is none.
                case AT_MOST -> isNumber(has) && Long.parseLong(has) <= Long.parseLong(wanted);
                case AT_LEAST -> isNumber(has) && Long.parseLong(has) >= Long.parseLong(wanted);
            };
        }

        private static boolean isNumber(String text) {
            return text.matches("\\d{1,18}");
        }
    }

    private static boolean isPlanned(String topic) {
        return names().contains(topic);
    }

    private static boolean isInternal(String topic, String applicationId) {
        return RegistryTopology.REPARTITION_TOPICS.stream().anyMatch(name -> topic.equals(applicationId + '-' + name))
                || RegistryTopology.LOGGED_STORES.stream()
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

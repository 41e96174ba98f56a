package dev.puri.cli;

import dev.puri.client.CollectionRegistryException;
import dev.puri.registry.InternalTopics;
import dev.puri.registry.RegistrySchemas;
import dev.puri.registry.RegistryTopics;
import dev.puri.registry.StoredSchemas;
import dev.puri.registry.StreamsSettings;
import dev.puri.schemas.collection.Namespace;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.SerializationException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "topics",
        description = "Create, list and check the registry's topics.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            TopicsCommand.ListCommand.class,
            TopicsCommand.CreateCommand.class,
            TopicsCommand.CheckCommand.class
        })
final class TopicsCommand extends CommandGroup {
    /** The names of all topics except those of single namespaces. */
    private static final Set<String> SHARED_TOPICS = RegistryTopics.names();

    @Command(name = "list", description = "List the existing topics of the registry.")
    static final class ListCommand extends Subcommand {
        @Override
        public Integer call() {
            try (Admin admin = admin()) {
                Map<String, TopicDescription> topics = describe(admin, registryTopics(admin));
                TextTable table = new TextTable("TOPIC", "PARTITIONS", "REPLICAS");
                topics.values().forEach(topic -> {
                    int replicas = topic.partitions().getFirst().replicas().size();
                    if (asJson()) {
                        print(console(), topic.name(), topic.partitions().size(), replicas, null);
                    } else {
                        table.row(topic.name(), topic.partitions().size(), replicas);
                    }
                });
                if (!asJson()) {
                    table.print(console().out());
                }
            }
            return ExitStatus.DONE;
        }
    }

    @Command(
            name = "create",
            description = {
                "Create missing topics, including those of namespaces with a topic of their own, and register the"
                        + " schemas.",
                "Existing topics are checked. They are not changed, except that events topics are set to store batches"
                        + " uncompressed, with a limit, and the topics with digests to keep superseded records for 5"
                        + " minutes; each change is printed."
            })
    static final class CreateCommand extends Subcommand {
        @Option(
                names = "--partitions",
                paramLabel = "N",
                description =
                        "Number of partitions of the topics that are keyed by pURI. It can never be changed (default: 8, or"
                                + " the number of the existing topics).")
        private @Nullable Integer partitions;

        @Option(
                names = "--replication-factor",
                paramLabel = "N",
                description = "Number of replicas of each topic (default: the cluster's default).")
        private short replicationFactor = -1;

        @Option(
                names = "--changelogs",
                description = "Create missing changelogs of the topology too, without records. The topology does not"
                        + " start without them, because names that are taken could be claimed again: see"
                        + " docs/disasters.md.")
        private boolean changelogs;

        @Override
        public Integer call() {
            CommandException.requireUsage(
                    partitions == null || partitions >= 1, "--partitions must be at least 1, not " + partitions);
            CommandException.requireUsage(
                    replicationFactor == -1 || replicationFactor >= 1,
                    "--replication-factor must be at least 1, not " + replicationFactor);
            CliSettings settings = settings();
            try (Admin admin = admin()) {
                int partitionCount = partitionCount(admin);
                print(RegistryTopics.create(admin, partitionCount, replicationFactor, Set.of()));
                Set<String> namespaces = namespacesWithTopics(this);
                if (!namespaces.isEmpty()) {
                    print(RegistryTopics.create(admin, partitionCount, replicationFactor, namespaces).stream()
                            .filter(topic -> !SHARED_TOPICS.contains(topic.name()))
                            .toList());
                }
                if (changelogs) {
                    print(InternalTopics.createChangelogs(admin, applicationId(), replicationFactor));
                }
                registerSchemas(settings, namespaces);
                List<String> mistakes = topicMistakes(this, admin, replicationFactor);
                mistakes.addAll(missingTopics(this, admin));
                requireNone(mistakes);
                return ExitStatus.DONE;
            }
        }

        /** Returns the number of partitions of new topics. If topics exist, it is their number of partitions. */
        private int partitionCount(Admin admin) {
            TopicDescription existingTopic = existingTopic(admin);
            if (existingTopic == null) {
                return partitions == null ? RegistryTopics.DEFAULT_PARTITIONS : partitions;
            }
            int existingCount = existingTopic.partitions().size();
            if (partitions != null && partitions != existingCount) {
                throw CommandException.failed(existingTopic.name() + " has " + existingCount + " partitions, not "
                        + partitions + ", and the number can never be changed; nothing was created: omit --partitions");
            }
            return existingCount;
        }

        /** Returns a topic that has as many partitions as the events topic must have, if possible the events topic. */
        private @Nullable TopicDescription existingTopic(Admin admin) {
            List<String> names = RegistryTopics.keyedTopics(applicationId());
            Map<String, TopicDescription> existing = describe(admin, Set.copyOf(names));
            return names.stream()
                    .flatMap(name -> Stream.ofNullable(existing.get(name)))
                    .findFirst()
                    .orElse(null);
        }

        private static void registerSchemas(CliSettings settings, Set<String> namespaces) {
            try (ConfluentSchemaRegistry schemaRegistry = ConfluentSchemaRegistry.create(settings.clientProperties())) {
                RegistrySchemas.register(schemaRegistry, namespaces);
            }
        }

        private void print(List<RegistryTopics.TopicState> topics) {
            for (RegistryTopics.TopicState topic : topics) {
                if (asJson()) {
                    TopicsCommand.print(
                            console(), topic.name(), topic.partitions(), topic.replicationFactor(), topic.isNew());
                } else {
                    println((topic.isNew() ? "created  " : "exists   ") + topic.name());
                }
                topic.changes().forEach(change -> say("puri: " + topic.name() + " now has " + change));
            }
        }
    }

    @Command(
            name = "check",
            description = {
                "Print what is wrong with the topics, their schemas and the compatibility of the schemas, and what to"
                        + " change.",
                "The exit status is 1 if anything is wrong."
            })
    static final class CheckCommand extends Subcommand {
        @Override
        public Integer call() {
            try (Admin admin = admin()) {
                List<String> mistakes = topicMistakes(this, admin, -1);
                mistakes.addAll(RegistryTopics.toleratedDifferences(admin, applicationId()));
                // "create" does not check this, because the repair of a lost topic runs it while the topic is empty.
                mistakes.addAll(InternalTopics.checkForNewIdentitiesTopic(admin, applicationId()));
                try {
                    mistakes.addAll(missingTopics(this, admin));
                    mistakes.addAll(schemaMistakes(registryTopics(admin)));
                } catch (CollectionRegistryException | SerializationException e) {
                    SerializationException failure = schemaRegistryFailure(e);
                    if (failure == null) {
                        throw e;
                    }
                    mistakes.add("the declared topics and the schemas were not checked: " + failure.getMessage());
                }
                requireNone(mistakes);
                say("puri: all " + registryTopics(admin).size() + " topics are correct");
                return ExitStatus.DONE;
            }
        }

        /** Returns the innermost exception that a failure of the schema registry has caused; null if there is none. */
        private static @Nullable SerializationException schemaRegistryFailure(Throwable thrown) {
            SerializationException innermost = null;
            for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
                if (cause instanceof SerializationException failure) {
                    innermost = failure;
                }
            }
            return innermost;
        }

        /**
         * Checks the schemas. The command {@code create} does not check them, because it cannot undo schemas that other
         * programs have registered after ours.
         */
        private List<String> schemaMistakes(Set<String> existingTopics) {
            Set<String> namespaces = existingTopics.stream()
                    .filter(Topics::isEvents)
                    .filter(topic -> !topic.equals(Topics.EVENTS))
                    .map(topic -> topic.substring(Topics.EVENTS.length() + 1))
                    .collect(Collectors.toCollection(TreeSet::new));
            try (ConfluentSchemaRegistry schemaRegistry =
                    ConfluentSchemaRegistry.create(settings().clientProperties())) {
                List<String> mistakes = new ArrayList<>(RegistrySchemas.check(schemaRegistry, namespaces));
                mistakes.addAll(StoredSchemas.check(settings().interactiveProperties(), schemaRegistry, () -> false));
                return mistakes;
            }
        }
    }

    /** Returns the names of the existing topics of the registry. */
    static Set<String> registryTopics(Admin admin) {
        return get(admin.listTopics().names()).stream()
                .filter(name -> SHARED_TOPICS.contains(name) || Topics.isEvents(name))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Returns descriptions of those of the named topics that exist, by name. */
    static Map<String, TopicDescription> describe(Admin admin, Set<String> names) {
        Set<String> existing = new TreeSet<>(get(admin.listTopics().names()));
        existing.retainAll(names);
        return new TreeMap<>(get(admin.describeTopics(existing).allTopicNames()));
    }

    private static <T> T get(KafkaFuture<T> future) {
        try {
            return future.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof KafkaException cause ? cause : new KafkaException(e.getCause());
        } catch (InterruptedException e) {
            throw new InterruptException(e);
        }
    }

    private static Set<String> namespacesWithTopics(Subcommand command) {
        return command.brokerRequests().declarations().namespaces().stream()
                .filter(Namespace::ownsTopic)
                .map(Namespace::name)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /**
     * Checks the topics without the schema registry, and returns a sentence for each mistake.
     *
     * @param replicationFactor the minimum for each topic; if it is below 1, the topology's setting determines the
     *     minimum
     */
    private static List<String> topicMistakes(Subcommand command, Admin admin, int replicationFactor) {
        StreamsSettings topologySettings = command.topologySettings();
        List<String> mistakes = new ArrayList<>(RegistryTopics.check(
                admin,
                topologySettings.streamsApplicationId(),
                replicationFactor < 1 ? topologySettings.streamsReplicationFactor() : replicationFactor));
        mistakes.addAll(InternalTopics.checkChangelogs(admin, topologySettings.streamsApplicationId()));
        mistakes.addAll(InternalTopics.checkTruncation(admin, topologySettings.streamsApplicationId()));
        return mistakes;
    }

    private static List<String> missingTopics(Subcommand command, Admin admin) {
        Set<String> existingTopics = registryTopics(admin);
        return existingTopics.contains(Topics.COLLECTIONS)
                ? missingTopics(namespacesWithTopics(command), existingTopics)
                : List.of();
    }

    /**
     * Returns a sentence for each missing topic of a namespace with a topic of its own. Events of such a namespace are
     * refused on other topics.
     */
    static List<String> missingTopics(Set<String> namespaces, Set<String> existingTopics) {
        return namespaces.stream()
                .filter(namespace -> !existingTopics.contains(Topics.eventsTopicOf(namespace)))
                .map(namespace -> Topics.eventsTopicOf(namespace) + " is missing, and the namespace " + namespace
                        + " is declared with a topic of its own; create the topic with: puri topics create")
                .toList();
    }

    /** Ends the command with all mistakes as its message, if there are any. */
    private static void requireNone(List<String> mistakes) {
        if (!mistakes.isEmpty()) {
            throw CommandException.failed(String.join("\n", mistakes));
        }
    }

    private static void print(Console console, String name, int partitions, int replicas, @Nullable Boolean isNew) {
        console.out()
                .println(Json.toText(new JsonObject()
                        .with("topic", name)
                        .with("partitions", partitions)
                        .with("replicationFactor", replicas)
                        .with("new", isNew)));
    }
}

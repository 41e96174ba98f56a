package dev.puri.cli;

import dev.puri.registry.RegistrySchemas;
import dev.puri.registry.RegistryTopics;
import dev.puri.registry.StreamsSettings;
import dev.puri.schemas.collection.Namespace;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import dev.puri.settings.Settings;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
        name = "topics",
        description = "The registry's topics: make them, list them, check that they are as they must be.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            TopicsCommand.ListCommand.class,
            TopicsCommand.CreateCommand.class,
            TopicsCommand.CheckCommand.class
        })
final class TopicsCommand implements Runnable {
    private static final Set<String> SHARED = RegistryTopics.names();

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public void run() {
        if (spec != null) {
            throw new ParameterException(spec.commandLine(), "say list, create or check");
        }
    }

    private static Admin admin(Subcommand command) {
        return Admin.create(command.settings().interactiveProperties());
    }

    @Command(name = "list", description = "Show those that are there.")
    static final class ListCommand extends Subcommand {
        @Override
        public Integer call() {
            try (Admin admin = admin(this)) {
                Map<String, TopicDescription> topics = describe(admin, registryTopics(admin));
                Table table = new Table("TOPIC", "PARTITIONS", "REPLICAS");
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
                "Make those that are missing, also of namespaces that own one, and register their schemas.",
                "What exists is checked and left as it is, but that events topics are set to store batches uncompressed."
            })
    static final class CreateCommand extends Subcommand {
        @Option(
                names = "--partitions",
                paramLabel = "N",
                description =
                        "Of the events topic and all that is keyed by pURI; fixed for ever (default: 8, or what they have).")
        private @Nullable Integer partitions;

        @Option(
                names = "--replication-factor",
                paramLabel = "N",
                description = "Copies of each (default: the cluster's default).")
        private short replicationFactor = -1;

        @Override
        public Integer call() {
            if (partitions != null && partitions < 1) {
                throw CommandException.usage("--partitions: at least 1, not " + partitions);
            }
            if (replicationFactor == 0 || replicationFactor < -1) {
                throw CommandException.usage("--replication-factor: at least 1, not " + replicationFactor);
            }
            CliSettings settings = settings();
            try (Admin admin = admin(this)) {
                int count = partitions(admin);
                print(RegistryTopics.create(admin, count, replicationFactor, Set.of()));
                Set<String> owners = namespacesWithTopics(this);
                if (!owners.isEmpty()) {
                    print(RegistryTopics.create(admin, count, replicationFactor, owners).stream()
                            .filter(each -> !SHARED.contains(each.name()))
                            .toList());
                }
                registerSchemas(settings, owners);
                return reportMistakes(mistakes(this, admin, replicationFactor));
            }
        }

        /** Returns the number of partitions for new topics, which must match that of existing ones. */
        private int partitions(Admin admin) {
            Integer existing = existingPartitions(admin);
            if (existing == null) {
                return partitions == null ? RegistryTopics.DEFAULT_PARTITIONS : partitions;
            }
            if (partitions != null && !partitions.equals(existing)) {
                throw CommandException.failed(
                        Topics.EVENTS + " has " + existing + " partitions, not " + partitions
                                + ", and the number is fixed for ever; nothing was made: go without --partitions",
                        null);
            }
            return existing;
        }

        private static @Nullable Integer existingPartitions(Admin admin) {
            return describe(admin, Set.of(Topics.EVENTS)).values().stream()
                    .map(topic -> topic.partitions().size())
                    .findFirst()
                    .orElse(null);
        }

        private static void registerSchemas(CliSettings settings, Set<String> owners) {
            try (ConfluentSchemaRegistry registry = ConfluentSchemaRegistry.create(settings.clientProperties())) {
                RegistrySchemas.register(registry, owners);
            }
        }

        private void print(List<RegistryTopics.TopicState> topics) {
            for (RegistryTopics.TopicState each : topics) {
                if (asJson()) {
                    TopicsCommand.print(
                            console(), each.name(), each.partitions(), each.replicationFactor(), each.isNew());
                } else {
                    console().out().println((each.isNew() ? "made    " : "stands  ") + each.name());
                }
            }
        }
    }

    @Command(
            name = "check",
            description = {
                "Say what is wrong with them, their schemas and their schemas' compatibility, and what to change.",
                "Status 1 if anything is."
            })
    static final class CheckCommand extends Subcommand {
        @Override
        public Integer call() {
            try (Admin admin = admin(this)) {
                List<String> mistakes = new ArrayList<>(mistakes(this, admin, -1));
                mistakes.addAll(schemaMistakes(registryTopics(admin)));
                int status = reportMistakes(mistakes);
                console().say("puri: all " + registryTopics(admin).size() + " topics are right");
                return status;
            }
        }

        /** Not checked by {@code create}, which cannot undo schemas that others registered after ours. */
        private List<String> schemaMistakes(Set<String> existing) {
            Set<String> owners = existing.stream()
                    .filter(Topics::isEvents)
                    .filter(topic -> !topic.equals(Topics.EVENTS))
                    .map(topic -> topic.substring(Topics.EVENTS.length() + 1))
                    .collect(Collectors.toCollection(TreeSet::new));
            try (ConfluentSchemaRegistry registry =
                    ConfluentSchemaRegistry.create(settings().clientProperties())) {
                return RegistrySchemas.check(registry, owners);
            }
        }
    }

    private static Set<String> registryTopics(Admin admin) {
        return get(admin.listTopics().names()).stream()
                .filter(name -> SHARED.contains(name) || Topics.isEvents(name))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Describes those of the topics that exist, by name. */
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
        return command.cluster().declarations().namespaces().stream()
                .filter(Namespace::ownsTopic)
                .map(Namespace::name)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /**
     * Returns a sentence for each mistake.
     *
     * @param replicationFactor the minimum for each topic; below 1 for that of the topology's settings
     */
    private static List<String> mistakes(Subcommand command, Admin admin, int replicationFactor) {
        StreamsSettings topology = Settings.of(Map.of(), command.console().environment(), null)
                .alsoAccepting(PuriCommand.SETTINGS)
                .alsoAcceptingVariables(PuriCommand.EARLY_VARIABLES)
                .read(StreamsSettings.class);
        List<String> mistakes = new ArrayList<>(RegistryTopics.check(
                admin,
                topology.streamsApplicationId(),
                replicationFactor < 1 ? topology.streamsReplicationFactor() : replicationFactor));
        Set<String> existing = registryTopics(admin);
        if (existing.contains(Topics.COLLECTIONS)) {
            mistakes.addAll(missing(namespacesWithTopics(command), existing));
        }
        return mistakes;
    }

    /** Finds missing topics of namespaces that own one; their events are refused on other topics. */
    static List<String> missing(Set<String> owners, Set<String> existing) {
        return owners.stream()
                .filter(namespace -> !existing.contains(Topics.eventsOf(namespace)))
                .map(namespace -> Topics.eventsOf(namespace) + " is missing, and the namespace " + namespace
                        + " is declared with a topic of its own: make it with puri topics create")
                .toList();
    }

    private static int reportMistakes(List<String> mistakes) {
        if (mistakes.isEmpty()) {
            return ExitStatus.DONE;
        }
        throw CommandException.failed(String.join("\n", mistakes), null);
    }

    private static void print(Console console, String name, int partitions, int replicas, @Nullable Boolean isNew) {
        console.out()
                .println(Json.print(Json.object(
                        "topic", name, "partitions", partitions, "replicationFactor", replicas, "new", isNew)));
    }
}

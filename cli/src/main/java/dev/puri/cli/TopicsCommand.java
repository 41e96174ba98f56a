package dev.puri.cli;

import dev.puri.http.Settings;
import dev.puri.registry.RegistrySchemas;
import dev.puri.registry.RegistryTopics;
import dev.puri.registry.StreamsSettings;
import dev.puri.schemas.collection.Namespace;
import dev.puri.schemas.log.Topics;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.TopicDescription;
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
    private static final Set<String> SHARED =
            Set.of(Topics.EVENTS, Topics.IDENTITIES, Topics.REJECTIONS, Topics.COLLECTIONS, Topics.GRANTS);

    @Spec
    private @Nullable CommandSpec spec;

    @Override
    public void run() {
        if (spec != null) {
            throw new ParameterException(spec.commandLine(), "say list, create or check");
        }
    }

    private static Admin admin(Subcommand command) {
        return Admin.create(command.settings().impatientProperties());
    }

    @Command(name = "list", description = "Show those that are there.")
    static final class ListCommand extends Subcommand {
        @Override
        public Integer call() throws ExecutionException, InterruptedException {
            try (Admin admin = admin(this)) {
                Set<String> names = admin.listTopics().names().get().stream()
                        .filter(name -> SHARED.contains(name) || Topics.isEvents(name))
                        .collect(Collectors.toCollection(TreeSet::new));
                Map<String, TopicDescription> topics = new TreeMap<>(
                        admin.describeTopics(names).allTopicNames().get());
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
                "What stands is left as it is, and checked."
            })
    static final class CreateCommand extends Subcommand {
        @Option(
                names = "--partitions",
                paramLabel = "N",
                description = "Of the events topic and all that is keyed by pURI; fixed for ever (default: 8).")
        private int partitions = RegistryTopics.DEFAULT_PARTITIONS;

        @Option(
                names = "--replication-factor",
                paramLabel = "N",
                description = "Copies of each (default: the cluster's default).")
        private short replicationFactor = -1;

        @Override
        public Integer call() {
            if (partitions < 1) {
                throw CommandException.usage("--partitions: at least 1, not " + partitions);
            }
            if (replicationFactor == 0 || replicationFactor < -1) {
                throw CommandException.usage("--replication-factor: at least 1, not " + replicationFactor);
            }
            CliSettings settings = settings();
            try (Admin admin = admin(this)) {
                print(RegistryTopics.create(admin, partitions, replicationFactor, Set.of()));
                Set<String> owners = namespacesWithTopics(settings);
                if (!owners.isEmpty()) {
                    print(RegistryTopics.create(admin, partitions, replicationFactor, owners).stream()
                            .filter(each -> !SHARED.contains(each.name()))
                            .toList());
                }
                registerSchemas(settings, owners);
                return reportMistakes(this, admin);
            }
        }

        private static Set<String> namespacesWithTopics(CliSettings settings) {
            return settings.collections().read().namespaces().stream()
                    .filter(Namespace::ownsTopic)
                    .map(Namespace::name)
                    .collect(Collectors.toCollection(TreeSet::new));
        }

        private static void registerSchemas(CliSettings settings, Set<String> owners) {
            try (ConfluentSchemaRegistry registry = ConfluentSchemaRegistry.create(settings.clientProperties())) {
                RegistrySchemas.register(registry, owners);
            }
        }

        private void print(List<RegistryTopics.Standing> topics) {
            for (RegistryTopics.Standing each : topics) {
                if (asJson()) {
                    TopicsCommand.print(
                            console(), each.name(), each.partitions(), each.replicationFactor(), each.isNew());
                } else {
                    console().out().println((each.isNew() ? "made    " : "stands  ") + each.name());
                }
            }
        }
    }

    @Command(name = "check", description = "Say what is wrong with them and what to change; status 1 if anything is.")
    static final class CheckCommand extends Subcommand {
        @Override
        public Integer call() {
            try (Admin admin = admin(this)) {
                return reportMistakes(this, admin);
            }
        }
    }

    private static int reportMistakes(Subcommand command, Admin admin) {
        StreamsSettings topology = Settings.of(Map.of(), command.console().environment(), null)
                .knowing(PuriCommand.SETTINGS)
                .knowingVariables(PuriCommand.LAUNCHER_VARIABLES)
                .read(StreamsSettings.class);
        List<String> mistakes =
                RegistryTopics.check(admin, topology.streamsApplicationId(), topology.streamsReplicationFactor());
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

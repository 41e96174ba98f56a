package dev.puri.cli;

import dev.puri.registry.StreamsSettings;
import dev.puri.resolver.ResolverSettings;
import dev.puri.search.SearchSettings;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** The top-level command with the options that all subcommands share. */
@Command(
        name = "puri",
        versionProvider = Version.class,
        description = "One scalar name for every object, and one place to ask where it lives.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            DemoCommand.class,
            UpCommand.class,
            MintCommand.class,
            PublishCommand.class,
            ResolveCommand.class,
            SearchCommand.class,
            CollectionsCommand.class,
            TopicsCommand.class,
            RejectionsCommand.class,
            StreamsCommand.class,
            ResolverCommand.class,
            IndexerCommand.class
        },
        footer = {
            "%nPURI_TOKEN, or the file that PURI_TOKEN_FILE names, has the bearer token for servers that ask for one.",
            "The launcher of a source tree knows one more: puri bench NAME, which measures."
        },
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:Everything asked for was done.",
            "1:It could not be done: something is out of reach, in the way, or broken.",
            "2:The command line or a setting is wrong.",
            "3:It was done, but some of the input was malformed, refused or not found."
        })
final class PuriCommand implements Callable<Integer> {
    /** The settings of all commands and servers, which may share an environment. */
    static final List<Class<? extends Record>> SETTINGS =
            List.of(CliSettings.class, StreamsSettings.class, ResolverSettings.class, SearchSettings.class);

    /** Variables that {@code ./puri} or {@link Logging} reads before settings are read. */
    static final String[] EARLY_VARIABLES = {"PURI_JAVA_OPTS", Logging.FORMAT_VARIABLE};

    private final Console console;

    @Spec
    private @Nullable CommandSpec spec;

    @Option(
            names = {"-o", "--output"},
            scope = ScopeType.INHERIT,
            paramLabel = "table|json",
            description = "How results are printed (default: table).")
    private OutputFormat output = OutputFormat.TABLE;

    @Option(
            names = "--bootstrap-server",
            scope = ScopeType.INHERIT,
            paramLabel = "HOST:PORT",
            description = "Kafka brokers. Also PURI_BOOTSTRAP_SERVER (default: 127.0.0.1:9092).")
    private @Nullable String bootstrapServer;

    @Option(
            names = "--schema-registry",
            scope = ScopeType.INHERIT,
            paramLabel = "URL",
            description = "Confluent API of the schema registry. Also PURI_SCHEMA_REGISTRY (default:"
                    + " http://127.0.0.1:8081/apis/ccompat/v7).")
    private @Nullable String schemaRegistry;

    @Option(
            names = "--resolver",
            scope = ScopeType.INHERIT,
            paramLabel = "URL",
            description = "A resolver. Also PURI_RESOLVER (default: http://127.0.0.1:8080).")
    private @Nullable String resolver;

    @Option(
            names = "--search",
            scope = ScopeType.INHERIT,
            paramLabel = "URL",
            description = "A search indexer. Also PURI_SEARCH (default: http://127.0.0.1:8083).")
    private @Nullable String search;

    @Option(
            names = "--command-config",
            scope = ScopeType.INHERIT,
            paramLabel = "FILE",
            description = "Kafka client properties, as Kafka's own tools take them. Also PURI_COMMAND_CONFIG.")
    private @Nullable String commandConfig;

    @Option(
            names = {"-v", "--verbose"},
            scope = ScopeType.INHERIT,
            description = "Log more on stderr; twice for still more.")
    private boolean[] verbosity = {};

    @Option(names = "--version", versionHelp = true, description = "Show the version.")
    private boolean version;

    @Option(
            names = {"-h", "--help"},
            scope = ScopeType.INHERIT,
            usageHelp = true,
            description = "Show this.")
    private boolean help;

    PuriCommand(Console console) {
        this.console = console;
    }

    Console console() {
        return console;
    }

    OutputFormat output() {
        return output;
    }

    int verbosity() {
        return verbosity.length;
    }

    /** Returns the settings of {@link CliSettings} that were set by options, by key. */
    Map<String, String> flags() {
        Map<String, String> flags = new LinkedHashMap<>();
        put(flags, "bootstrap.server", bootstrapServer);
        put(flags, "schema.registry", schemaRegistry);
        put(flags, "resolver", resolver);
        put(flags, "search", search);
        put(flags, "command.config", commandConfig);
        return flags;
    }

    /**
     * Refuses address options for a command that starts its own servers.
     *
     * @throws CommandException if such an option is set
     */
    void requireNoAddress(String command) {
        for (String key : List.of("bootstrap.server", "schema.registry", "resolver", "search")) {
            if (flags().containsKey(key)) {
                throw CommandException.usage("--" + key.replace('.', '-') + ": " + command + " brings its own");
            }
        }
    }

    private static void put(Map<String, String> flags, String key, @Nullable String value) {
        if (value != null) {
            flags.put(key, value);
        }
    }

    @Override
    public Integer call() {
        if (spec == null) {
            throw new IllegalStateException("not made by picocli");
        }
        throw new ParameterException(spec.commandLine(), "name a command, such as puri demo");
    }
}

package dev.puri.cli;

import dev.puri.registry.StreamsSettings;
import dev.puri.resolver.ResolverSettings;
import dev.puri.search.SearchSettings;
import dev.puri.settings.Settings;
import java.nio.file.Path;
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
        description = "An identity registry: gives each object one name, and finds the shard that has the object.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            DemoCommand.class,
            UpCommand.class,
            MintCommand.class,
            PublishCommand.class,
            ResolveCommand.class,
            SearchCommand.class,
            CollectionsCommand.class,
            ImportCommand.class,
            VerifyCommand.class,
            IdentitiesCommand.class,
            TopicsCommand.class,
            RejectionsCommand.class,
            RebuildCommand.class,
            StreamsCommand.class,
            ResolverCommand.class,
            IndexerCommand.class
        },
        footer = {
            "%nIf servers require a bearer token, set PURI_TOKEN, or name a file that contains the token with"
                    + " PURI_TOKEN_FILE.",
            "In a source tree there is one more command, which runs a benchmark: puri bench NAME."
        },
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:The command succeeded.",
            "1:The command failed: a server is unreachable, a resource is in use, or an error occurred.",
            "2:The command line or a setting is wrong.",
            "3:The command succeeded, but some of the input was malformed, refused or not found."
        })
final class PuriCommand implements Callable<Integer> {
    /** The settings records of all commands and servers, which may share an environment. */
    static final List<Class<? extends Record>> SETTINGS =
            List.of(CliSettings.class, StreamsSettings.class, ResolverSettings.class, SearchSettings.class);

    /** The variables that {@code ./puri} or {@link Logging} reads before settings are read. */
    static final String[] VARIABLES_READ_BEFORE_SETTINGS = {"PURI_JAVA_OPTS", Logging.FORMAT_VARIABLE};

    private final Console console;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = {"-o", "--output"},
            scope = ScopeType.INHERIT,
            paramLabel = "table|json",
            description = "Format of the results (default: table).")
    private OutputFormat output = OutputFormat.TABLE;

    @Option(
            names = "--bootstrap-server",
            scope = ScopeType.INHERIT,
            paramLabel = "HOST:PORT",
            description = "Kafka brokers. Environment variable: PURI_BOOTSTRAP_SERVER (default: 127.0.0.1:9092).")
    private @Nullable String bootstrapServer;

    @Option(
            names = "--schema-registry",
            scope = ScopeType.INHERIT,
            paramLabel = "URL",
            description = "Confluent API of the schema registry. Environment variable: PURI_SCHEMA_REGISTRY (default:"
                    + " http://127.0.0.1:8081/apis/ccompat/v7).")
    private @Nullable String schemaRegistry;

    @Option(
            names = "--resolver",
            scope = ScopeType.INHERIT,
            paramLabel = "URL",
            description = "Resolver. Environment variable: PURI_RESOLVER (default: http://127.0.0.1:8080).")
    private @Nullable String resolver;

    @Option(
            names = "--search",
            scope = ScopeType.INHERIT,
            paramLabel = "URL",
            description = "Search indexer. Environment variable: PURI_SEARCH (default: http://127.0.0.1:8083).")
    private @Nullable String search;

    @Option(
            names = "--command-config",
            scope = ScopeType.INHERIT,
            paramLabel = "FILE",
            description = "File of Kafka client properties, in the format of Kafka's own tools. Environment variable:"
                    + " PURI_COMMAND_CONFIG.")
    private @Nullable String commandConfig;

    @Option(
            names = {"-v", "--verbose"},
            scope = ScopeType.INHERIT,
            description = "Log more to stderr; repeat the option to log even more.")
    private boolean[] verbosity = {};

    @Option(names = "--version", versionHelp = true, description = "Show the version.")
    private boolean version;

    @Option(
            names = {"-h", "--help"},
            scope = ScopeType.INHERIT,
            usageHelp = true,
            description = "Show this help.")
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

    /**
     * Returns the sources of settings for one command or server. The settings of the others are accepted and ignored.
     */
    static Settings settings(Map<String, String> flags, Map<String, String> environment, @Nullable Path file) {
        return Settings.of(flags, environment, file)
                .alsoAccepting(SETTINGS)
                .alsoAcceptingVariables(VARIABLES_READ_BEFORE_SETTINGS);
    }

    /** Returns the {@link CliSettings} that were given as options, by key. */
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
     * Refuses options that set connections, for a command that starts its own servers.
     *
     * @throws CommandException if one is set
     */
    void requireNoConnection(String command) {
        flags().keySet().stream().findFirst().ifPresent(key -> {
            throw CommandException.usage("--" + key.replace('.', '-') + ": puri " + command
                    + " does not accept this option, because it starts its own servers");
        });
    }

    /** Whether a variable is set. A variable that is blank counts as not set, as in {@link Settings}. */
    static boolean isSet(Map<String, String> environment, String variable) {
        return !environment.getOrDefault(variable, "").isBlank();
    }

    private static void put(Map<String, String> flags, String key, @Nullable String value) {
        if (value != null) {
            flags.put(key, value);
        }
    }

    @Override
    public Integer call() {
        throw new ParameterException(spec.commandLine(), "missing command; example: puri demo");
    }
}

package dev.puri.cli;

import dev.puri.settings.KnownSetting;
import dev.puri.settings.Settings;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;

/** A command that runs one server. The options of the command are generated from the server's settings record. */
abstract class ServerCommand<T extends Record> extends Subcommand {
    /** Settings that are options of every command. */
    private static final Set<String> COMMON_OPTIONS = Set.of("bootstrap.server", "schema.registry", "command.config");

    private static final String KAFKA_KEYS = "kafka.";

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "Properties file with settings, such as http.port=8080.")
    private @Nullable Path config;

    @Option(names = "--kafka", paramLabel = "KEY=VALUE", description = "Property of the Kafka clients.")
    private Map<String, String> kafka = Map.of();

    private final Class<T> settingsType;

    ServerCommand(Class<T> settingsType) {
        this.settingsType = settingsType;
    }

    @Override
    final boolean isServer() {
        return true;
    }

    /** Adds an option for each of the server's settings. */
    static void addOptions(CommandSpec command) {
        ServerCommand<?> server = (ServerCommand<?>) command.userObject();
        for (KnownSetting setting : server.ownSettings()) {
            String byDefault = setting.byDefault().isEmpty() ? "" : " (default: " + setting.byDefault() + ")";
            command.addOption(OptionSpec.builder(setting.flag())
                    .type(String.class)
                    .paramLabel(label(setting))
                    .description(escaped(
                            setting.doc() + " Environment variable: " + setting.environmentName() + byDefault + "."))
                    .build());
        }
    }

    /** Returns the label of an option's parameter, derived from the first word of the setting's type. */
    private static String label(KnownSetting setting) {
        String firstWord = setting.type().split(" ")[0].toUpperCase(Locale.ROOT);
        return switch (firstWord) {
            case "WHOLE" -> "NUMBER";
            case "TRUE" -> "true|false";
            default -> firstWord;
        };
    }

    /** Escapes percent signs, because picocli treats descriptions as format strings. */
    private static String escaped(String description) {
        return description.replace("%", "%%");
    }

    /** Returns the settings that are options of this command only. */
    private List<KnownSetting> ownSettings() {
        return Settings.list(settingsType).stream()
                .filter(setting -> !COMMON_OPTIONS.contains(setting.key())
                        && !setting.key().startsWith(KAFKA_KEYS))
                .toList();
    }

    /** Returns the message about an option of other commands. */
    private String notAccepted(String key) {
        String right = ownSettings().stream()
                .filter(setting -> setting.key().startsWith(key + "."))
                .map(setting -> "; use " + setting.flag())
                .findFirst()
                .orElse("");
        return "--" + key + ": puri " + spec.name() + " does not accept this option" + right;
    }

    /**
     * Reads the settings of the server.
     *
     * @throws CommandException if an option of other commands is set
     * @throws dev.puri.settings.InvalidSettingsException if settings are invalid; the message lists every mistake
     */
    final T serverSettings() {
        Map<String, String> flags = new LinkedHashMap<>();
        rootCommand().flags().forEach((key, value) -> {
            CommandException.requireUsage(COMMON_OPTIONS.contains(key), notAccepted(key));
            flags.put(key, value);
        });
        kafka.forEach((key, value) -> flags.put(KAFKA_KEYS + key, value));
        for (KnownSetting setting : ownSettings()) {
            String value = spec.commandLine().getParseResult().matchedOptionValue(setting.flag(), null);
            if (value != null) {
                flags.put(setting.key(), value);
            }
        }
        return PuriCommand.settings(flags, console().environment(), config).read(settingsType);
    }
}

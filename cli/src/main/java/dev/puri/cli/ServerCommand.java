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

/** A command that runs one server. Its options are generated from the server's settings record. */
abstract class ServerCommand<T extends Record> extends Subcommand {
    /** Settings that are options of every command. */
    private static final Set<String> COMMON_OPTIONS = Set.of("bootstrap.server", "schema.registry", "command.config");

    private static final String KAFKA_KEYS = "kafka.";

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "Settings as a properties file, such as http.port=8080.")
    private @Nullable Path config;

    @Option(names = "--kafka", paramLabel = "KEY=VALUE", description = "A property of the Kafka clients.")
    private Map<String, String> kafka = Map.of();

    private final Class<T> type;

    ServerCommand(Class<T> type) {
        this.type = type;
    }

    @Override
    final boolean serves() {
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
                    .description(escaped(setting.doc() + " Also " + setting.environmentName() + byDefault + "."))
                    .build());
        }
    }

    /** Returns the parameter label of a setting's type. */
    private static String label(KnownSetting setting) {
        String first = setting.type().split(" ")[0].toUpperCase(Locale.ROOT);
        return switch (first) {
            case "WHOLE" -> "NUMBER";
            case "TRUE" -> "true|false";
            default -> first;
        };
    }

    /** Escapes percent signs, because picocli treats descriptions as format strings. */
    private static String escaped(String description) {
        return description.replace("%", "%%");
    }

    private List<KnownSetting> ownSettings() {
        return Settings.list(type).stream()
                .filter(setting -> !COMMON_OPTIONS.contains(setting.key())
                        && !setting.key().startsWith(KAFKA_KEYS))
                .toList();
    }

    /**
     * @throws dev.puri.settings.InvalidSettingsException listing every mistake
     */
    final T serverSettings() {
        Map<String, String> flags = new LinkedHashMap<>();
        puri().flags().forEach((key, value) -> {
            if (COMMON_OPTIONS.contains(key)) {
                flags.put(key, value);
            }
        });
        kafka.forEach((key, value) -> flags.put(KAFKA_KEYS + key, value));
        for (KnownSetting setting : ownSettings()) {
            String value = option(setting);
            if (value != null) {
                flags.put(setting.key(), value);
            }
        }
        return Settings.of(flags, console().environment(), config)
                .alsoAccepting(PuriCommand.SETTINGS)
                .alsoAcceptingVariables(PuriCommand.EARLY_VARIABLES)
                .read(type);
    }

    private @Nullable String option(KnownSetting setting) {
        if (spec == null) {
            throw new IllegalStateException("not made by picocli");
        }
        return spec.commandLine().getParseResult().matchedOptionValue(setting.flag(), null);
    }
}

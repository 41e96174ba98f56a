package dev.puri.cli;

import dev.puri.registry.StreamsSettings;
import dev.puri.resolver.ResolverSettings;
import dev.puri.search.SearchSettings;
import dev.puri.settings.InvalidSettingsException;
import dev.puri.settings.KnownSetting;
import dev.puri.settings.Settings;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The settings of the servers of an {@link EmbeddedStack}, for {@code up} and {@code demo}. Each server reads its
 * settings from the environment and a file, as it does when it runs alone. The command itself sets addresses, ports and
 * directories.
 */
final class StackSettings {
    private static final List<Class<? extends Record>> SERVERS =
            List.of(StreamsSettings.class, ResolverSettings.class, SearchSettings.class);

    /**
     * The settings that only the command sets, by key. The value is the advice in the message for a user who sets one.
     */
    private static final Map<String, String> RESERVED_SETTINGS = reservedSettings();

    /**
     * The settings that contain a listen address. Each address must include 127.0.0.1, because the servers call each
     * other there.
     */
    private static final List<String> HOST_SETTINGS = List.of("http.host", "public.http.host", "streams.http.host");

    private static final Set<String> HOSTS_WITH_LOOPBACK = Set.of("127.0.0.1", "localhost", "0.0.0.0");

    /**
     * The settings that contain the addresses of servers that the command starts, by key. The file must not set them.
     * The environment may, because other commands need them. The value is the advice in the message for a user.
     */
    private static final Map<String, String> SETTINGS_RESERVED_IN_FILE = Map.of(
            "bootstrap.server",
            "they start their own broker",
            "schema.registry",
            "they start their own schema registry");

    /** The default values that differ from those of a server that runs alone, by key. */
    private static final Map<String, String> DEFAULTS =
            // There is no load balancer to wait for, and all servers share the memory of one machine.
            Map.of("drain.delay", "0s", "streams.store.memory", "64");

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "Properties file with settings of the servers, such as max.refs=100. Environment variables,"
                    + " such as PURI_MAX_REFS, override the file.")
    private @Nullable Path config;

    @Option(
            names = "--kafka",
            paramLabel = "KEY=VALUE",
            description = "Property of the Kafka clients of the servers. Environment variable: PURI_KAFKA_KEY.")
    private Map<String, String> kafka = Map.of();

    private Map<String, String> environment = Map.of();

    /** Creates settings whose options picocli sets. */
    StackSettings() {}

    private static Map<String, String> reservedSettings() {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("http.port", "use --port for the resolver and --search-port for the search indexer");
        settings.put("public.http.port", "use --public-port");
        settings.put("state.dir", "use --data");
        settings.put("streams.state.dir", "use --data");
        settings.put("streams.http.port", "they choose a free port");
        settings.put("streams.replication.factor", "there is only one broker");
        settings.put("search.url", "the resolver calls the search indexer of the same process");
        settings.put(
                "tls.certificate",
                "the servers call each other without TLS; to use TLS, start each server with its own command");
        return settings;
    }

    /** Sets the environment variables from which settings are read. */
    StackSettings withEnvironment(Map<String, String> variables) {
        environment = variables;
        return this;
    }

    /**
     * Checks the settings of all servers.
     *
     * @param commandSettings the settings that the command sets for each server, by key
     * @throws InvalidSettingsException if settings are invalid; the message lists the mistakes of all servers
     */
    void check(Map<Class<? extends Record>, Map<String, String>> commandSettings) {
        Set<String> mistakes = new LinkedHashSet<>(conflicts());
        for (Class<? extends Record> server : SERVERS) {
            try {
                read(server, commandSettings.getOrDefault(server, Map.of()));
            } catch (InvalidSettingsException e) {
                mistakes.addAll(e.mistakes());
            }
        }
        InvalidSettingsException.throwIfAny(List.copyOf(mistakes));
    }

    /**
     * Reads one server's settings.
     *
     * @param commandSettings the settings that the command sets, by key; they override all others
     * @throws InvalidSettingsException if settings are invalid; the message lists every mistake
     */
    <T extends Record> T read(Class<T> server, Map<String, String> commandSettings) {
        Map<String, String> flags = new HashMap<>();
        kafka.forEach((key, value) -> flags.put("kafka." + key, value));
        Map<String, String> fileValues = readFile();
        for (KnownSetting setting : Settings.list(server)) {
            String defaultValue = DEFAULTS.get(setting.key());
            if (defaultValue != null && !isSet(setting, fileValues)) {
                flags.put(setting.key(), defaultValue);
            }
        }
        flags.putAll(commandSettings);
        return PuriCommand.settings(flags, environment, config).read(server);
    }

    private boolean isSet(KnownSetting setting, Map<String, String> fileValues) {
        return fileValues.containsKey(setting.key()) || PuriCommand.isSet(environment, setting.environmentName());
    }

    /** Returns a mistake for each setting of the user that conflicts with those of the command. */
    private List<String> conflicts() {
        List<String> conflicts = new ArrayList<>();
        Map<String, String> variablesByKey = new TreeMap<>();
        SERVERS.forEach(server ->
                Settings.list(server).forEach(setting -> variablesByKey.put(setting.key(), setting.environmentName())));
        RESERVED_SETTINGS.forEach((key, advice) -> {
            String variable = variablesByKey.getOrDefault(key, "");
            if (PuriCommand.isSet(environment, variable)) {
                conflicts.add(variable + ": puri up and puri demo set this themselves; " + advice);
            }
        });
        Map<String, String> fileValues = readFile();
        Map<String, String> reservedInFile = new TreeMap<>(RESERVED_SETTINGS);
        reservedInFile.putAll(SETTINGS_RESERVED_IN_FILE);
        reservedInFile.forEach((key, advice) -> {
            if (fileValues.containsKey(key)) {
                conflicts.add(key + " in " + config + ": puri up and puri demo set this themselves; " + advice);
            }
        });
        for (String key : HOST_SETTINGS) {
            String variable = variablesByKey.getOrDefault(key, "");
            addIfWithoutLoopback(conflicts, variable, environment.getOrDefault(variable, ""));
            addIfWithoutLoopback(conflicts, key + " in " + config, fileValues.getOrDefault(key, ""));
        }
        return conflicts;
    }

    /** Adds a mistake if a listen address does not include 127.0.0.1. */
    private static void addIfWithoutLoopback(List<String> conflicts, String source, String host) {
        if (!host.isBlank() && !HOSTS_WITH_LOOPBACK.contains(host.strip())) {
            conflicts.add(source + ": the servers of puri up and puri demo call each other at 127.0.0.1, which \""
                    + host + "\" does not include; use 0.0.0.0, or start each server with its own command");
        }
    }

    /**
     * Returns the non-blank values of the file, or none if the file is unreadable. {@link #read} reports that error.
     */
    private Map<String, String> readFile() {
        Map<String, String> values = new HashMap<>();
        if (config == null) {
            return values;
        }
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(config)) {
            properties.load(reader);
        } catch (IOException | IllegalArgumentException e) {
            return values;
        }
        properties.forEach((key, value) -> {
            if (!value.toString().isBlank()) {
                values.put(key.toString(), value.toString());
            }
        });
        return values;
    }
}

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
 * Settings of the servers that {@code up} and {@code demo} run in one process. Each server reads its settings from the
 * environment and a file, as a server of its own does; the command fixes addresses, ports and directories.
 */
final class StackSettings {
    private static final List<Class<? extends Record>> SERVERS =
            List.of(StreamsSettings.class, ResolverSettings.class, SearchSettings.class);

    /** Settings that the command fixes, each with a remedy for the message if a user sets it. */
    private static final Map<String, String> FIXED = fixed();

    /** Addresses to listen on; the servers call each other at 127.0.0.1, so they must include it. */
    private static final List<String> HOST_SETTINGS = List.of("http.host", "public.http.host", "streams.http.host");

    private static final Set<String> HOSTS_WITH_LOOPBACK = Set.of("127.0.0.1", "localhost", "0.0.0.0");

    /**
     * Addresses of servers that the command starts itself; allowed in the environment, for other commands, not in the
     * file.
     */
    private static final Map<String, String> OWN_SERVERS =
            Map.of("bootstrap.server", "it brings its own broker", "schema.registry", "it brings its own");

    /** Defaults that differ from those of separate servers. */
    private static final Map<String, String> DEFAULTS =
            // There is no load balancer to wait for, and all servers share the machine's memory.
            Map.of("drain.delay", "0s", "streams.store.memory", "64");

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "Settings of its servers as a properties file, such as max.refs=100. Their variables, such as"
                    + " PURI_MAX_REFS, go over it.")
    private @Nullable Path config;

    @Option(
            names = "--kafka",
            paramLabel = "KEY=VALUE",
            description = "A property of its servers' Kafka clients. Also PURI_KAFKA_KEY.")
    private Map<String, String> kafka = Map.of();

    private Map<String, String> environment = Map.of();

    /** For picocli, which sets the options. */
    StackSettings() {}

    private static Map<String, String> fixed() {
        Map<String, String> fixed = new LinkedHashMap<>();
        fixed.put("http.port", "use --port for the resolver and --search-port for the search indexer");
        fixed.put("public.http.port", "use --public-port");
        fixed.put("state.dir", "use --data");
        fixed.put("streams.state.dir", "use --data");
        fixed.put("streams.http.port", "it takes a free one");
        fixed.put("streams.replication.factor", "its broker is alone");
        fixed.put("search.url", "its resolver asks its own search indexer");
        fixed.put("tls.certificate", "its servers ask each other without TLS; run each by its own command for that");
        return fixed;
    }

    /** Sets the environment variables. */
    StackSettings with(Map<String, String> variables) {
        environment = variables;
        return this;
    }

    /**
     * Checks the settings of all servers before any is started.
     *
     * @param fixed the fixed settings of each server
     * @throws InvalidSettingsException listing the mistakes of all servers
     */
    void check(Map<Class<? extends Record>, Map<String, String>> fixed) {
        Set<String> mistakes = new LinkedHashSet<>(conflicts());
        for (Class<? extends Record> server : SERVERS) {
            try {
                read(server, fixed.getOrDefault(server, Map.of()));
            } catch (InvalidSettingsException e) {
                mistakes.addAll(e.mistakes());
            }
        }
        InvalidSettingsException.throwIfAny(List.copyOf(mistakes));
    }

    /**
     * Reads one server's settings.
     *
     * @param fixed fixed settings by key; they override all others
     * @throws InvalidSettingsException listing every mistake
     */
    <T extends Record> T read(Class<T> server, Map<String, String> fixed) {
        Map<String, String> flags = new HashMap<>();
        kafka.forEach((key, value) -> flags.put("kafka." + key, value));
        Map<String, String> fileValues = readFile();
        for (KnownSetting setting : Settings.list(server)) {
            String byDefault = DEFAULTS.get(setting.key());
            if (byDefault != null && !isSet(setting, fileValues)) {
                flags.put(setting.key(), byDefault);
            }
        }
        flags.putAll(fixed);
        return Settings.of(flags, environment, config)
                .alsoAccepting(PuriCommand.SETTINGS)
                .alsoAcceptingVariables(PuriCommand.EARLY_VARIABLES)
                .read(server);
    }

    private boolean isSet(KnownSetting setting, Map<String, String> fileValues) {
        return fileValues.containsKey(setting.key())
                || !environment.getOrDefault(setting.environmentName(), "").isBlank();
    }

    private List<String> conflicts() {
        List<String> conflicts = new ArrayList<>();
        Map<String, String> variables = new TreeMap<>();
        SERVERS.forEach(server ->
                Settings.list(server).forEach(setting -> variables.put(setting.key(), setting.environmentName())));
        FIXED.forEach((key, remedy) -> {
            String variable = variables.getOrDefault(key, "");
            if (!environment.getOrDefault(variable, "").isBlank()) {
                conflicts.add(variable + ": puri up and puri demo decide this; " + remedy);
            }
        });
        Map<String, String> fileValues = readFile();
        Map<String, String> all = new TreeMap<>(FIXED);
        all.putAll(OWN_SERVERS);
        all.forEach((key, remedy) -> {
            if (fileValues.containsKey(key)) {
                conflicts.add(key + " in " + config + ": puri up and puri demo decide this; " + remedy);
            }
        });
        for (String key : HOST_SETTINGS) {
            String variable = variables.getOrDefault(key, "");
            addIfBeyondLoopback(conflicts, variable, environment.getOrDefault(variable, ""));
            addIfBeyondLoopback(conflicts, key + " in " + config, fileValues.getOrDefault(key, ""));
        }
        return conflicts;
    }

    private static void addIfBeyondLoopback(List<String> conflicts, String where, String host) {
        if (!host.isBlank() && !HOSTS_WITH_LOOPBACK.contains(host.strip())) {
            conflicts.add(where + ": the servers of puri up and puri demo ask each other at 127.0.0.1, where \"" + host
                    + "\" does not listen; use 0.0.0.0, or run each by its own command");
        }
    }

    /** Reads the file without blank values; empty if unreadable, which reading the settings reports. */
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

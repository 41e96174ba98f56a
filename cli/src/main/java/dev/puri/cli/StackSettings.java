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
 * Settings of the servers that {@code up} and {@code demo} run in one process. Each server takes its own from the
 * environment and from a file, as it does alone, save what only the command can know: addresses, ports, directories.
 */
final class StackSettings {
    private static final List<Class<? extends Record>> SERVERS =
            List.of(StreamsSettings.class, ResolverSettings.class, SearchSettings.class);

    /** Settings that the command fixes, and the option or reason to name when a user sets one. */
    private static final Map<String, String> DECIDED = decided();

    /** Where its servers listen. They ask each other, and the command prints them, at 127.0.0.1. */
    private static final List<String> HOSTS = List.of("http.host", "public.http.host", "streams.http.host");

    private static final Set<String> HOSTS_WITH_LOOPBACK = Set.of("127.0.0.1", "localhost", "0.0.0.0");

    /** Addresses for the other commands; allowed in the environment, not in a configuration file for this command. */
    private static final Map<String, String> BROUGHT =
            Map.of("bootstrap.server", "it brings its own broker", "schema.registry", "it brings its own");

    /** Where one machine wants something else than a server of its own does; whoever sets it has the last word. */
    private static final Map<String, String> DEFAULTS =
            // No load balancer needs time to notice a stop; all parts share one memory.
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

    /** For picocli, which fills in what was typed. */
    StackSettings() {}

    private static Map<String, String> decided() {
        Map<String, String> decided = new LinkedHashMap<>();
        decided.put("http.port", "use --port for the resolver and --search-port for the search indexer");
        decided.put("public.http.port", "use --public-port");
        decided.put("state.dir", "use --data");
        decided.put("streams.state.dir", "use --data");
        decided.put("streams.http.port", "it takes a free one");
        decided.put("streams.replication.factor", "its broker is alone");
        decided.put("search.url", "its resolver asks its own search indexer");
        decided.put("tls.certificate", "its servers ask each other without TLS; run each by its own command for that");
        return decided;
    }

    /** With these variables. */
    StackSettings with(Map<String, String> variables) {
        environment = variables;
        return this;
    }

    /**
     * Reads the settings of all servers and forgets them again, before anything is started.
     *
     * @param decided what the command decides, by the server that reads it
     * @throws InvalidSettingsException listing every mistake of all of them
     */
    void check(Map<Class<? extends Record>, Map<String, String>> decided) {
        Set<String> mistakes = new LinkedHashSet<>(conflicts());
        for (Class<? extends Record> server : SERVERS) {
            try {
                read(server, decided.getOrDefault(server, Map.of()));
            } catch (InvalidSettingsException e) {
                mistakes.addAll(e.mistakes());
            }
        }
        InvalidSettingsException.throwIfAny(List.copyOf(mistakes));
    }

    /**
     * Reads one server's settings.
     *
     * @param decided by key; goes over everything else
     * @throws InvalidSettingsException listing every mistake
     */
    <T extends Record> T read(Class<T> server, Map<String, String> decided) {
        Map<String, String> flags = new HashMap<>();
        kafka.forEach((key, value) -> flags.put("kafka." + key, value));
        Map<String, String> inFile = file();
        for (KnownSetting setting : Settings.list(server)) {
            String byDefault = DEFAULTS.get(setting.key());
            if (byDefault != null && !isGiven(setting, inFile)) {
                flags.put(setting.key(), byDefault);
            }
        }
        flags.putAll(decided);
        return Settings.of(flags, environment, config)
                .alsoAccepting(PuriCommand.SETTINGS)
                .alsoAcceptingVariables(PuriCommand.EARLY_VARIABLES)
                .read(server);
    }

    private boolean isGiven(KnownSetting setting, Map<String, String> inFile) {
        return inFile.containsKey(setting.key())
                || !environment.getOrDefault(setting.environmentName(), "").isBlank();
    }

    private List<String> conflicts() {
        List<String> conflicts = new ArrayList<>();
        Map<String, String> variables = new TreeMap<>();
        SERVERS.forEach(server ->
                Settings.list(server).forEach(setting -> variables.put(setting.key(), setting.environmentName())));
        DECIDED.forEach((key, remedy) -> {
            String variable = variables.getOrDefault(key, "");
            if (!environment.getOrDefault(variable, "").isBlank()) {
                conflicts.add(variable + ": puri up and puri demo decide this; " + remedy);
            }
        });
        Map<String, String> inFile = file();
        Map<String, String> all = new TreeMap<>(DECIDED);
        all.putAll(BROUGHT);
        all.forEach((key, remedy) -> {
            if (inFile.containsKey(key)) {
                conflicts.add(key + " in " + config + ": puri up and puri demo decide this; " + remedy);
            }
        });
        for (String key : HOSTS) {
            String variable = variables.getOrDefault(key, "");
            addIfBeyondLoopback(conflicts, variable, environment.getOrDefault(variable, ""));
            addIfBeyondLoopback(conflicts, key + " in " + config, inFile.getOrDefault(key, ""));
        }
        return conflicts;
    }

    private static void addIfBeyondLoopback(List<String> conflicts, String where, String host) {
        if (!host.isBlank() && !HOSTS_WITH_LOOPBACK.contains(host.strip())) {
            conflicts.add(where + ": the servers of puri up and puri demo ask each other at 127.0.0.1, where \"" + host
                    + "\" does not listen; use 0.0.0.0, or run each by its own command");
        }
    }

    /** What is not blank in it. That it cannot be read is found when settings are. */
    private Map<String, String> file() {
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

package dev.puri.settings;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Flags, environment variables, settings file and Kafka client file, and the mistakes found in them. */
final class SettingSources {
    static final String KAFKA_KEYS = "kafka.";

    static final KnownSetting COMMAND_CONFIG = new KnownSetting(
            "command.config",
            SettingType.PATH.expectation(),
            "",
            "File of Kafka client properties, as Kafka's own tools take it.",
            false);

    private static final String KAFKA_VARIABLES = KnownSetting.environmentName(KAFKA_KEYS);
    private static final String FILE_SUFFIX = "_FILE";

    /** Our settings that a file of Kafka client properties may contain, and the names that they have there. */
    private static final Map<String, String> CLIENT_NAMES =
            Map.of("bootstrap.server", "bootstrap.servers", "schema.registry", "schema.registry.url");

    /** Variables that Kubernetes sets in every container for a service whose name begins with {@code puri}. */
    private static final Pattern KUBERNETES_LINK =
            Pattern.compile(".*_(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT_\\d+_(TCP|UDP|SCTP)(_.*)?)");

    private final Map<String, String> flags;
    private final Map<String, String> environment;
    private final String file;
    private final Map<String, String> fileValues;
    private final Map<String, KnownSetting> known = new TreeMap<>();
    private final boolean passesKafkaProperties;
    private final Map<String, String> kafka = new TreeMap<>();
    private final List<String> mistakes = new ArrayList<>();

    /**
     * The text of a setting before it is parsed.
     *
     * @param source the flag, variable, file or key that it came from, for messages
     */
    record RawValue(String source, String text) {}

    /**
     * @param settings all known settings, also those of other servers that share the sources
     */
    SettingSources(
            Map<String, String> flags,
            Map<String, String> environment,
            @Nullable Path file,
            Collection<KnownSetting> settings) {
        this.flags = notBlank(flags);
        this.environment = notBlank(environment);
        this.file = String.valueOf(file);
        this.fileValues = file == null ? Map.of() : load(this.file, "the settings file");
        settings.forEach(setting -> known.put(setting.key(), setting));
        passesKafkaProperties = known.remove(KAFKA_KEYS + "*") != null;
        if (passesKafkaProperties) {
            kafka.putAll(kafkaProperties());
        }
    }

    /** The mistakes found so far; callers add theirs. */
    List<String> mistakes() {
        return mistakes;
    }

    /** The Kafka client properties, without those that have a setting of their own. */
    KafkaProperties kafka() {
        Map<String, String> properties = new TreeMap<>(kafka);
        properties.keySet().removeAll(CLIENT_NAMES.values());
        return new KafkaProperties(properties);
    }

    /** Returns the text of a setting from the source with the highest precedence, or null if no source has it. */
    @Nullable
    RawValue find(String key, boolean secret) {
        String variable = KnownSetting.environmentName(key);
        String flag = flags.get(key);
        if (flag != null) {
            return new RawValue("--" + key.replace('.', '-'), flag);
        }
        String secretFile = secret ? environment.get(variable + FILE_SUFFIX) : null;
        if (secretFile != null) {
            return secretFile(variable, secretFile);
        }
        String fromEnvironment = environment.get(variable);
        if (fromEnvironment != null) {
            return new RawValue(variable, fromEnvironment);
        }
        String fromFile = fileValues.get(key);
        if (fromFile != null) {
            return new RawValue(key + " in " + file, fromFile);
        }
        String clientName = CLIENT_NAMES.getOrDefault(key, "");
        String fromClient = kafka.get(clientName);
        return fromClient == null ? null : new RawValue(clientName, fromClient);
    }

    private @Nullable RawValue secretFile(String variable, String path) {
        String fileVariable = variable + FILE_SUFFIX;
        if (environment.containsKey(variable)) {
            mistakes.add(fileVariable + ": given together with " + variable + "; one of them must go");
            return null;
        }
        try {
            return new RawValue(fileVariable, Files.readString(Path.of(path)).strip());
        } catch (IOException | IllegalArgumentException e) {
            mistakes.add(fileVariable + ": the file " + path + " cannot be read: " + e);
            return null;
        }
    }

    /** Reads the sources in ascending precedence, so that later values replace earlier ones. */
    private Map<String, String> kafkaProperties() {
        Map<String, String> properties = new TreeMap<>();
        fileValues.forEach((key, value) -> {
            if (key.startsWith(KAFKA_KEYS)) {
                properties.put(key.substring(KAFKA_KEYS.length()), value);
            }
        });
        RawValue commandConfig = find(COMMAND_CONFIG.key(), false);
        if (commandConfig != null) {
            properties.putAll(load(commandConfig.text(), commandConfig.source()));
        }
        new TreeMap<>(environment).forEach((variable, value) -> {
            if (variable.startsWith(KAFKA_VARIABLES) && !isKubernetesLink(variable, value)) {
                addKafkaVariable(variable, value, properties);
            }
        });
        flags.forEach((key, value) -> {
            if (key.startsWith(KAFKA_KEYS)) {
                properties.put(key.substring(KAFKA_KEYS.length()), value);
            }
        });
        return properties;
    }

    private void addKafkaVariable(String variable, String value, Map<String, String> properties) {
        // Names of some Kafka properties end in .file, so the suffix has our meaning only on secrets.
        String secret =
                variable.endsWith(FILE_SUFFIX) ? variable.substring(0, variable.length() - FILE_SUFFIX.length()) : "";
        if (!secret.startsWith(KAFKA_VARIABLES) || !KafkaProperties.isSecret(kafkaName(secret))) {
            properties.put(kafkaName(variable), value);
            return;
        }
        RawValue content = secretFile(secret, value);
        if (content != null) {
            properties.put(kafkaName(secret), content.text());
        }
    }

    private String kafkaName(String variable) {
        return variable.substring(KAFKA_VARIABLES.length())
                .toLowerCase(Locale.ROOT)
                .replace('_', '.');
    }

    /**
     * @param otherVariables full names of further variables that are accepted
     */
    void findUnknown(Collection<String> otherVariables) {
        List<String> keys = List.copyOf(known.keySet());
        for (String key : new TreeSet<>(flags.keySet())) {
            if (!known.containsKey(key) && !(passesKafkaProperties && key.startsWith(KAFKA_KEYS))) {
                mistakes.add("--" + key.replace('.', '-') + ": no such setting" + nearest(key, keys));
            }
        }
        findUnknownVariables(otherVariables);
        for (String key : new TreeSet<>(fileValues.keySet())) {
            if (!known.containsKey(key) && !(passesKafkaProperties && key.startsWith(KAFKA_KEYS))) {
                mistakes.add(key + " in " + file + ": no such setting" + nearest(key, keys));
            }
        }
    }

    private void findUnknownVariables(Collection<String> otherVariables) {
        TreeSet<String> variables = new TreeSet<>(otherVariables);
        for (KnownSetting setting : known.values()) {
            variables.add(setting.environmentName());
            if (setting.isSecret()) {
                variables.add(setting.environmentName() + FILE_SUFFIX);
            }
        }
        new TreeMap<>(environment).forEach((variable, value) -> {
            boolean ours = variable.startsWith(KnownSetting.ENVIRONMENT_PREFIX)
                    && !(passesKafkaProperties && variable.startsWith(KAFKA_VARIABLES))
                    && !isKubernetesLink(variable, value);
            if (ours && !variables.contains(variable)) {
                mistakes.add(variable + ": no such setting" + nearest(variable, variables));
            }
        });
    }

    private static boolean isKubernetesLink(String variable, String value) {
        return KUBERNETES_LINK.matcher(variable).matches() || (variable.endsWith("_PORT") && value.contains("://"));
    }

    private Map<String, String> load(String path, String source) {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(Path.of(path))) {
            properties.load(reader);
        } catch (IOException | IllegalArgumentException e) {
            mistakes.add(source + ": the file " + path + " cannot be read: " + e);
        }
        Map<String, String> values = new TreeMap<>();
        properties.forEach((name, value) -> values.put((String) name, (String) value));
        return notBlank(values);
    }

    private static Map<String, String> notBlank(Map<String, String> values) {
        Map<String, String> kept = new TreeMap<>();
        values.forEach((key, value) -> {
            if (!value.isBlank()) {
                kept.put(key, value.strip());
            }
        });
        return kept;
    }

    private static String nearest(String unknown, Collection<String> known) {
        String nearest = null;
        int least = Math.max(2, unknown.length() / 3) + 1;
        for (String candidate : known) {
            int distance = EditDistance.between(unknown, candidate);
            if (distance < least) {
                least = distance;
                nearest = candidate;
            }
        }
        return nearest == null ? "" : "; did you mean " + nearest + "?";
    }
}

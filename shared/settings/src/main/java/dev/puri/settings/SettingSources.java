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

/**
 * Looks up settings in flags, environment variables, the settings file and the file of Kafka client properties, and
 * collects the mistakes found in these sources.
 */
final class SettingSources {
    static final String KAFKA_KEYS = "kafka.";

    static final KnownSetting COMMAND_CONFIG = new KnownSetting(
            "command.config",
            SettingType.PATH.expectation(),
            "",
            "File of Kafka client properties, in the format of Kafka's own tools.",
            false);

    private static final String KAFKA_VARIABLES = KnownSetting.environmentName(KAFKA_KEYS);
    private static final String FILE_SUFFIX = "_FILE";

    /** The settings that a Kafka client property may set too: the setting's key, and the name of the Kafka property. */
    private static final Map<String, String> KAFKA_NAMES_BY_KEY =
            Map.of("bootstrap.server", "bootstrap.servers", "schema.registry", "schema.registry.url");

    /** Variables that Kubernetes sets in every container for a service whose name begins with {@code puri}. */
    private static final Pattern KUBERNETES_LINK =
            Pattern.compile(".*_(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT_\\d+_(TCP|UDP|SCTP)(_.*)?)");

    private final Map<String, String> flags;
    private final Map<String, String> environment;
    private final String fileName;
    private final Map<String, String> fileValues;
    private final Map<String, KnownSetting> knownByKey = new TreeMap<>();
    private final boolean acceptsKafkaProperties;
    private final Map<String, String> kafkaProperties = new TreeMap<>();
    private final List<String> mistakes = new ArrayList<>();

    /**
     * The unparsed text of a setting.
     *
     * @param source the flag, variable, file or key that contains the text, for messages
     */
    record RawValue(String source, String text) {}

    /**
     * @param settings all known settings, including the settings of other servers that share the sources
     */
    SettingSources(
            Map<String, String> flags,
            Map<String, String> environment,
            @Nullable Path file,
            Collection<KnownSetting> settings) {
        this.flags = withoutBlankValues(flags);
        this.environment = withoutBlankValues(environment);
        this.fileName = String.valueOf(file);
        this.fileValues = file == null ? Map.of() : load(fileName, "the settings file");
        settings.forEach(setting -> knownByKey.put(setting.key(), setting));
        acceptsKafkaProperties = knownByKey.remove(KAFKA_KEYS + "*") != null;
        if (acceptsKafkaProperties) {
            kafkaProperties.putAll(readKafkaProperties());
        }
    }

    /** Returns the modifiable list of the mistakes found so far; callers add mistakes to it. */
    List<String> mistakes() {
        return mistakes;
    }

    /** Returns the Kafka client properties, without the properties that set one of our settings. */
    KafkaProperties kafkaProperties() {
        Map<String, String> properties = new TreeMap<>(kafkaProperties);
        properties.keySet().removeAll(KAFKA_NAMES_BY_KEY.values());
        return new KafkaProperties(properties);
    }

    /** Returns the text of a setting from the source with the highest precedence, or null if no source sets it. */
    @Nullable
    RawValue find(String key, boolean isSecret) {
        String variable = KnownSetting.environmentName(key);
        String flag = flags.get(key);
        if (flag != null) {
            return new RawValue("--" + key.replace('.', '-'), flag);
        }
        String secretFile = isSecret ? environment.get(variable + FILE_SUFFIX) : null;
        if (secretFile != null) {
            return readSecretFile(variable, secretFile);
        }
        String fromEnvironment = environment.get(variable);
        if (fromEnvironment != null) {
            return new RawValue(variable, fromEnvironment);
        }
        String fromFile = fileValues.get(key);
        if (fromFile != null) {
            return new RawValue(key + " in " + fileName, fromFile);
        }
        String kafkaName = KAFKA_NAMES_BY_KEY.getOrDefault(key, "");
        String fromKafka = kafkaProperties.get(kafkaName);
        return fromKafka == null ? null : new RawValue(kafkaName, fromKafka);
    }

    private @Nullable RawValue readSecretFile(String variable, String path) {
        String fileVariable = variable + FILE_SUFFIX;
        if (environment.containsKey(variable)) {
            mistakes.add(fileVariable + ": " + variable + " is set too; set only one of them");
            return null;
        }
        try {
            String secret = Files.readString(Path.of(path)).strip();
            if (secret.isEmpty()) {
                mistakes.add(fileVariable + ": the file " + path + " is empty");
                return null;
            }
            return new RawValue(fileVariable, secret);
        } catch (IOException | IllegalArgumentException e) {
            mistakes.add(fileVariable + ": the file " + path + " cannot be read: " + e);
            return null;
        }
    }

    /**
     * Reads the Kafka properties from all sources in ascending precedence, so that later values replace earlier ones.
     */
    private Map<String, String> readKafkaProperties() {
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
        // The names of some Kafka properties end in .file. So _FILE names a file with the value only for secrets.
        String secretVariable =
                variable.endsWith(FILE_SUFFIX) ? variable.substring(0, variable.length() - FILE_SUFFIX.length()) : "";
        if (!secretVariable.startsWith(KAFKA_VARIABLES) || !KafkaProperties.isSecret(kafkaName(secretVariable))) {
            properties.put(kafkaName(variable), value);
            return;
        }
        RawValue secret = readSecretFile(secretVariable, value);
        if (secret != null) {
            properties.put(kafkaName(secretVariable), secret.text());
        }
    }

    private String kafkaName(String variable) {
        return variable.substring(KAFKA_VARIABLES.length())
                .toLowerCase(Locale.ROOT)
                .replace('_', '.');
    }

    /**
     * Adds a mistake for each flag, variable and key of the file that is not a known setting.
     *
     * @param otherVariables full names of further variables that are accepted
     */
    void reportUnknownExcept(Collection<String> otherVariables) {
        List<String> keys = List.copyOf(knownByKey.keySet());
        for (String key : new TreeSet<>(flags.keySet())) {
            if (!knownByKey.containsKey(key) && !(acceptsKafkaProperties && key.startsWith(KAFKA_KEYS))) {
                mistakes.add("--" + key.replace('.', '-') + ": no such setting" + suggestion(key, keys));
            }
        }
        reportUnknownVariables(otherVariables);
        for (String key : new TreeSet<>(fileValues.keySet())) {
            if (!knownByKey.containsKey(key) && !(acceptsKafkaProperties && key.startsWith(KAFKA_KEYS))) {
                mistakes.add(key + " in " + fileName + ": no such setting" + suggestion(key, keys));
            }
        }
    }

    private void reportUnknownVariables(Collection<String> otherVariables) {
        TreeSet<String> variables = new TreeSet<>(otherVariables);
        for (KnownSetting setting : knownByKey.values()) {
            variables.add(setting.environmentName());
            if (setting.isSecret()) {
                variables.add(setting.environmentName() + FILE_SUFFIX);
            }
        }
        new TreeMap<>(environment).forEach((variable, value) -> {
            boolean isOurs = variable.startsWith(KnownSetting.ENVIRONMENT_PREFIX)
                    && !(acceptsKafkaProperties && variable.startsWith(KAFKA_VARIABLES))
                    && !isKubernetesLink(variable, value);
            if (isOurs && !variables.contains(variable)) {
                mistakes.add(variable + ": no such setting" + suggestion(variable, variables));
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
        return withoutBlankValues(values);
    }

    private static Map<String, String> withoutBlankValues(Map<String, String> values) {
        Map<String, String> result = new TreeMap<>();
        values.forEach((key, value) -> {
            if (!value.isBlank()) {
                result.put(key, value.strip());
            }
        });
        return result;
    }

    /** Returns a question that names the nearest known name, or an empty text if no known name is similar. */
    private static String suggestion(String unknownName, Collection<String> knownNames) {
        String nearest = null;
        int leastDistance = Math.max(2, unknownName.length() / 3) + 1;
        for (String candidate : knownNames) {
            int distance = EditDistance.between(unknownName, candidate);
            if (distance < leastDistance) {
                leastDistance = distance;
                nearest = candidate;
            }
        }
        return nearest == null ? "" : "; did you mean " + nearest + "?";
    }
}

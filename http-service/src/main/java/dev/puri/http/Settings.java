package dev.puri.http;

import java.io.IOException;
import java.io.Reader;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Where a server's settings come from, and how they become its settings record: flag before
 * environment before file before default. The record's components say what there is, each with a
 * {@link Setting}; they may be {@code String}, {@code int}, {@code long}, {@code boolean}, {@link
 * Duration}, {@link Path}, {@link URI}, {@link Secret}, {@code List<String>}, {@link Optional} of
 * these, and {@link KafkaProperties}. Blank values count as not given, for that is how compose files
 * pass on a variable that is not set.
 *
 * <p>All mistakes are found before the first is reported. A {@code PURI_} variable that nobody knows
 * is one of them, so several servers that share an environment must be told of each other with {@link
 * #knowing}.
 */
public final class Settings {
    private static final String KAFKA_KEYS = "kafka.";
    private static final String KAFKA_VARIABLES = KnownSetting.environmentName(KAFKA_KEYS);
    private static final String FILE_SUFFIX = "_FILE";

    /** Settings of ours that a file of client properties may hold under the client's name for them. */
    private static final Map<String, String> CLIENT_NAMES =
            Map.of("bootstrap.server", "bootstrap.servers", "schema.registry", "schema.registry.url");

    private static final KnownSetting COMMAND_CONFIG = new KnownSetting(
            "command.config",
            SettingType.PATH.expectation(),
            "",
            "File of Kafka client properties, as Kafka's own tools take it.",
            false);

    /** What Kubernetes sets in every container for a service whose name begins with {@code puri}. */
    private static final Pattern KUBERNETES_LINK =
            Pattern.compile(".*_(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT_\\d+_(TCP|UDP|SCTP)(_.*)?)");

    private static final Pattern USER_INFO = Pattern.compile("//[^/@\\s]*@");

    private final Map<String, String> flags;
    private final Map<String, String> environment;
    private final @Nullable Path file;
    private final List<Class<? extends Record>> others;
    private final List<String> otherVariables;

    private Settings(
            Map<String, String> flags,
            Map<String, String> environment,
            @Nullable Path file,
            List<Class<? extends Record>> others,
            List<String> otherVariables) {
        this.flags = notBlank(flags);
        this.environment = notBlank(environment);
        this.file = file;
        this.others = List.copyOf(others);
        this.otherVariables = List.copyOf(otherVariables);
    }

    /**
     * @param flags by key, e.g. {@code http.port}; a Kafka property as {@code kafka.security.protocol}
     * @param environment normally {@link System#getenv()}
     * @param file a properties file; null for none
     */
    public static Settings of(Map<String, String> flags, Map<String, String> environment, @Nullable Path file) {
        return new Settings(flags, environment, file, List.of(), List.of());
    }

    /** Allows also for the settings of other servers that share the environment or file. */
    public Settings knowing(Collection<? extends Class<? extends Record>> servers) {
        return new Settings(flags, environment, file, List.copyOf(servers), otherVariables);
    }

    /** Allows also for these variables, whole names such as {@code PURI_RESOLVER}. */
    public Settings knowingVariables(String... names) {
        return new Settings(flags, environment, file, others, List.of(names));
    }

    /**
     * Reads one server's settings.
     *
     * @throws InvalidSettingsException listing every mistake
     */
    public <T extends Record> T read(Class<T> type) {
        return new Reading(type).read(type);
    }

    /**
     * Reads one server's settings where no other shares the environment.
     *
     * @throws InvalidSettingsException listing every mistake
     */
    public static <T extends Record> T read(
            Class<T> type, Map<String, String> flags, Map<String, String> environment, @Nullable Path file) {
        return of(flags, environment, file).read(type);
    }

    /** The settings of a record, in its order; Kafka's pass-through is the one with the key {@code kafka.*}. */
    public static List<KnownSetting> list(Class<? extends Record> type) {
        List<KnownSetting> list = new ArrayList<>();
        for (RecordComponent component : type.getRecordComponents()) {
            Setting setting = settingOf(component);
            if (component.getType() == KafkaProperties.class) {
                list.add(COMMAND_CONFIG);
                list.add(new KnownSetting(KAFKA_KEYS + "*", "text", "", setting.doc(), false));
                continue;
            }
            SettingType settingType = SettingType.of(elementType(component));
            list.add(new KnownSetting(
                    keyOf(component),
                    settingType.expectation(),
                    setting.byDefault(),
                    setting.doc(),
                    settingType == SettingType.SECRET));
        }
        return List.copyOf(list);
    }

    /** What holds, by key, fit for a log: secrets and the user part of URLs are masked. */
    public static Map<String, String> effective(Record settings) {
        Map<String, String> effective = new LinkedHashMap<>();
        for (RecordComponent component : settings.getClass().getRecordComponents()) {
            Object value = valueOf(component, settings);
            if (value instanceof KafkaProperties kafka) {
                kafka.shown().forEach((name, shown) -> effective.put(KAFKA_KEYS + name, masked(shown)));
            } else {
                effective.put(keyOf(component), masked(print(value)));
            }
        }
        return effective;
    }

    private static String print(Object value) {
        return switch (value) {
            case Optional<?> optional -> optional.map(Settings::print).orElse("");
            case List<?> list -> list.stream().map(Object::toString).collect(Collectors.joining(","));
            case Duration duration ->
                duration.toSeconds() * 1000 == duration.toMillis()
                        ? duration.toSeconds() + "s"
                        : duration.toMillis() + "ms";
            default -> value.toString();
        };
    }

    private static String masked(String text) {
        return USER_INFO.matcher(text).replaceAll("//" + Secret.MASK + "@");
    }

    private static String keyOf(RecordComponent component) {
        StringBuilder key = new StringBuilder();
        for (char c : component.getName().toCharArray()) {
            if (Character.isUpperCase(c)) {
                key.append('.');
            }
            key.append(Character.toLowerCase(c));
        }
        return key.toString();
    }

    private static Setting settingOf(RecordComponent component) {
        Setting setting = component.getAnnotation(Setting.class);
        if (setting == null) {
            throw new IllegalStateException(
                    component.getDeclaringRecord().getName() + "." + component.getName() + " has no @Setting");
        }
        return setting;
    }

    private static Class<?> elementType(RecordComponent component) {
        if (component.getType() != Optional.class) {
            return component.getType();
        }
        Type element = ((ParameterizedType) component.getGenericType()).getActualTypeArguments()[0];
        return element instanceof ParameterizedType generic ? (Class<?>) generic.getRawType() : (Class<?>) element;
    }

    private static Object valueOf(RecordComponent component, Record settings) {
        try {
            component.getAccessor().setAccessible(true);
            return component.getAccessor().invoke(settings);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A value as it was found, with the spelling under which it was. */
    private record Given(String spelling, String text) {}

    /** One pass over all sources for one record. */
    private final class Reading {
        private final List<String> mistakes = new ArrayList<>();
        private final Map<String, String> fileValues;
        private final Map<String, KnownSetting> known = new TreeMap<>();
        private final boolean passesKafkaProperties;
        private final Map<String, String> kafka = new TreeMap<>();

        Reading(Class<? extends Record> type) {
            fileValues = file == null ? Map.of() : load(file, "the settings file");
            List<Class<? extends Record>> all = new ArrayList<>(others);
            all.add(type);
            for (Class<? extends Record> server : all) {
                list(server).forEach(setting -> known.put(setting.key(), setting));
            }
            passesKafkaProperties = known.remove(KAFKA_KEYS + "*") != null;
            if (passesKafkaProperties) {
                kafka.putAll(kafkaProperties());
            }
        }

        <T extends Record> T read(Class<T> type) {
            RecordComponent[] components = type.getRecordComponents();
            @Nullable Object[] values = new @Nullable Object[components.length];
            for (int i = 0; i < components.length; i++) {
                values[i] = value(components[i]);
            }
            findUnknown();
            if (!mistakes.isEmpty()) {
                throw new InvalidSettingsException(mistakes);
            }
            return construct(type, components, values);
        }

        private @Nullable Object value(RecordComponent component) {
            Setting setting = settingOf(component);
            if (component.getType() == KafkaProperties.class) {
                Map<String, String> properties = new TreeMap<>(kafka);
                properties.keySet().removeAll(CLIENT_NAMES.values());
                return new KafkaProperties(properties);
            }
            SettingType type = SettingType.of(elementType(component));
            String key = keyOf(component);
            Given given = given(key, type == SettingType.SECRET);
            if (given == null && !setting.byDefault().isEmpty()) {
                given = new Given("the default of " + key, setting.byDefault());
            }
            boolean optional = component.getType() == Optional.class;
            if (given == null) {
                if (optional) {
                    return Optional.empty();
                }
                if (type == SettingType.LIST) {
                    return List.of();
                }
                mistakes.add(KnownSetting.environmentName(key) + ": missing; " + setting.doc());
                return null;
            }
            Object value = parse(type, setting, given);
            return optional && value != null ? Optional.of(value) : value;
        }

        private @Nullable Object parse(SettingType type, Setting setting, Given given) {
            String expectation = type.expectation()
                    + (setting.atLeast().isEmpty() ? "" : ", at least " + setting.atLeast())
                    + (setting.atMost().isEmpty() ? "" : ", at most " + setting.atMost());
            try {
                Object value = type.parse(given.text());
                boolean tooSmall =
                        !setting.atLeast().isEmpty() && type.compare(value, type.parse(setting.atLeast())) < 0;
                boolean tooLarge = !setting.atMost().isEmpty() && type.compare(value, type.parse(setting.atMost())) > 0;
                if (!tooSmall && !tooLarge) {
                    return value;
                }
            } catch (IllegalArgumentException e) {
                // Reported below with what was expected, which says more than the parser does.
            }
            mistakes.add(
                    given.spelling() + ": \"" + masked(given.text()) + "\" is not what it must be: " + expectation);
            return null;
        }

        private @Nullable Given given(String key, boolean secret) {
            String variable = KnownSetting.environmentName(key);
            String flag = flags.get(key);
            if (flag != null) {
                return new Given("--" + key.replace('.', '-'), flag);
            }
            String secretFile = secret ? environment.get(variable + FILE_SUFFIX) : null;
            if (secretFile != null) {
                return secretFile(variable, secretFile);
            }
            String fromEnvironment = environment.get(variable);
            if (fromEnvironment != null) {
                return new Given(variable, fromEnvironment);
            }
            String fromFile = fileValues.get(key);
            if (fromFile != null) {
                return new Given(key + " in " + file, fromFile);
            }
            String clientName = CLIENT_NAMES.getOrDefault(key, "");
            String fromClient = kafka.get(clientName);
            return fromClient == null ? null : new Given(clientName, fromClient);
        }

        private @Nullable Given secretFile(String variable, String path) {
            String fileVariable = variable + FILE_SUFFIX;
            if (environment.containsKey(variable)) {
                mistakes.add(fileVariable + ": given together with " + variable + "; one of them must go");
                return null;
            }
            try {
                return new Given(fileVariable, Files.readString(Path.of(path)).strip());
            } catch (IOException | IllegalArgumentException e) {
                mistakes.add(fileVariable + ": the file " + path + " cannot be read: " + e);
                return null;
            }
        }

        /** Least precedence first, so that later ones replace earlier ones. */
        private Map<String, String> kafkaProperties() {
            Map<String, String> properties = new TreeMap<>();
            fileValues.forEach((key, value) -> {
                if (key.startsWith(KAFKA_KEYS)) {
                    properties.put(key.substring(KAFKA_KEYS.length()), value);
                }
            });
            Given commandConfig = given(COMMAND_CONFIG.key(), false);
            if (commandConfig != null) {
                properties.putAll(load(Path.of(commandConfig.text()), commandConfig.spelling()));
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
            // Some of Kafka's own names end in .file, so the suffix is ours on secrets alone.
            String secret = variable.endsWith(FILE_SUFFIX)
                    ? variable.substring(0, variable.length() - FILE_SUFFIX.length())
                    : "";
            if (!secret.startsWith(KAFKA_VARIABLES) || !KafkaProperties.isSecret(kafkaName(secret))) {
                properties.put(kafkaName(variable), value);
                return;
            }
            Given given = secretFile(secret, value);
            if (given != null) {
                properties.put(kafkaName(secret), given.text());
            }
        }

        private String kafkaName(String variable) {
            return variable.substring(KAFKA_VARIABLES.length())
                    .toLowerCase(Locale.ROOT)
                    .replace('_', '.');
        }

        private void findUnknown() {
            List<String> keys = List.copyOf(known.keySet());
            for (String key : new TreeSet<>(flags.keySet())) {
                if (!known.containsKey(key) && !(passesKafkaProperties && key.startsWith(KAFKA_KEYS))) {
                    mistakes.add("--" + key.replace('.', '-') + ": no such setting" + nearest(key, keys));
                }
            }
            findUnknownVariables();
            for (String key : new TreeSet<>(fileValues.keySet())) {
                if (!known.containsKey(key) && !(passesKafkaProperties && key.startsWith(KAFKA_KEYS))) {
                    mistakes.add(key + " in " + file + ": no such setting" + nearest(key, keys));
                }
            }
        }

        private void findUnknownVariables() {
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

        private Map<String, String> load(Path path, String spelling) {
            Properties properties = new Properties();
            try (Reader reader = Files.newBufferedReader(path)) {
                properties.load(reader);
            } catch (IOException | IllegalArgumentException e) {
                mistakes.add(spelling + ": the file " + path + " cannot be read: " + e);
            }
            Map<String, String> values = new TreeMap<>();
            properties.forEach((name, value) -> values.put((String) name, (String) value));
            return notBlank(values);
        }

        private <T extends Record> T construct(Class<T> type, RecordComponent[] components, @Nullable Object[] values) {
            try {
                Constructor<T> constructor = type.getDeclaredConstructor(
                        Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new));
                constructor.setAccessible(true);
                return constructor.newInstance(values);
            } catch (InvocationTargetException e) {
                if (e.getCause() instanceof IllegalArgumentException mistake) {
                    throw new InvalidSettingsException(List.of(String.valueOf(mistake.getMessage())));
                }
                throw new IllegalStateException(e);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }
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
            int distance = Spelling.distance(unknown, candidate);
            if (distance < least) {
                least = distance;
                nearest = candidate;
            }
        }
        return nearest == null ? "" : "; did you mean " + nearest + "?";
    }
}

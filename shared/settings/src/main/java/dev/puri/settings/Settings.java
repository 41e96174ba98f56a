package dev.puri.settings;

import dev.puri.settings.SettingSources.RawValue;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads the settings of a server into its settings record. Flags take precedence over environment variables,
 * environment variables over the settings file, and the settings file over defaults.
 *
 * <p>Each component of the record is a setting and has a {@link Setting} annotation. Its type is {@code String},
 * {@code int}, {@code long}, {@code boolean}, {@link Duration}, {@link Path}, {@link URI}, {@link Secret}, {@code
 * List<String>}, an {@link Optional} of one of these types, or {@link KafkaProperties}. A component without an
 * annotation is itself a record of settings, so that servers can share a group of settings. A blank value counts as
 * absent, because compose files pass an unset variable as a blank value.
 *
 * <p>One exception reports all mistakes together. An unknown {@code PURI_} variable is a mistake. If servers share an
 * environment, each server must therefore name the settings records of the other servers with {@link #alsoAccepting}.
 */
public final class Settings {
    private static final Pattern USER_INFO = Pattern.compile("//[^@\\s]*@");

    private final Map<String, String> flags;
    private final Map<String, String> environment;
    private final @Nullable Path file;
    /** The settings records of the servers whose settings are accepted and ignored. */
    private final List<Class<? extends Record>> otherServers;

    private final List<String> otherVariables;

    private Settings(
            Map<String, String> flags,
            Map<String, String> environment,
            @Nullable Path file,
            List<Class<? extends Record>> otherServers,
            List<String> otherVariables) {
        this.flags = Map.copyOf(flags);
        this.environment = Map.copyOf(environment);
        this.file = file;
        this.otherServers = List.copyOf(otherServers);
        this.otherVariables = List.copyOf(otherVariables);
    }

    /**
     * @param flags values by key, e.g. {@code http.port}; the key of a Kafka property begins with {@code kafka.}
     * @param environment normally {@link System#getenv()}
     * @param file a properties file; null for none
     */
    public static Settings of(Map<String, String> flags, Map<String, String> environment, @Nullable Path file) {
        return new Settings(flags, environment, file, List.of(), List.of());
    }

    /**
     * Returns a copy that accepts and ignores the settings of these servers, because they share the environment or the
     * file with this server. A later call replaces the servers of an earlier call.
     */
    public Settings alsoAccepting(Collection<? extends Class<? extends Record>> servers) {
        return new Settings(flags, environment, file, List.copyOf(servers), otherVariables);
    }

    /**
     * Returns a copy that accepts and ignores these environment variables. A later call replaces the variables of an
     * earlier call.
     *
     * @param names full names, e.g. {@code PURI_RESOLVER}
     */
    public Settings alsoAcceptingVariables(String... names) {
        return new Settings(flags, environment, file, otherServers, List.of(names));
    }

    /**
     * Reads one server's settings.
     *
     * @throws InvalidSettingsException listing every mistake
     */
    public <T extends Record> T read(Class<T> type) {
        List<KnownSetting> known = new ArrayList<>(list(type));
        otherServers.forEach(other -> known.addAll(list(other)));
        SettingSources sources = new SettingSources(flags, environment, file, known);
        T settings = read(type, sources);
        sources.reportUnknownExcept(otherVariables);
        if (settings == null || !sources.mistakes().isEmpty()) {
            throw new InvalidSettingsException(sources.mistakes());
        }
        return settings;
    }

    /**
     * Reads one record. Returns null if a value is invalid; the mistakes are then in {@link SettingSources#mistakes}.
     */
    private static <T extends Record> @Nullable T read(Class<T> type, SettingSources sources) {
        RecordComponent[] components = type.getRecordComponents();
        @Nullable Object[] values = new @Nullable Object[components.length];
        boolean allValid = true;
        for (int i = 0; i < components.length; i++) {
            values[i] = isNested(components[i])
                    ? read(components[i].getType().asSubclass(Record.class), sources)
                    : value(components[i], sources);
            allValid &= values[i] != null;
        }
        return allValid ? construct(type, components, values, sources.mistakes()) : null;
    }

    /**
     * Reads the settings of a server that does not share its environment with other servers.
     *
     * @throws InvalidSettingsException listing every mistake
     */
    public static <T extends Record> T read(
            Class<T> type, Map<String, String> flags, Map<String, String> environment, @Nullable Path file) {
        return of(flags, environment, file).read(type);
    }

    /**
     * Lists the settings of a record in the order of its components. A component of type {@link KafkaProperties} has
     * two settings: {@code command.config}, the name of a file, and {@code kafka.*}.
     */
    public static List<KnownSetting> list(Class<? extends Record> type) {
        List<KnownSetting> list = new ArrayList<>();
        for (RecordComponent component : type.getRecordComponents()) {
            if (isNested(component)) {
                list.addAll(list(component.getType().asSubclass(Record.class)));
                continue;
            }
            Setting setting = settingOf(component);
            if (component.getType() == KafkaProperties.class) {
                list.add(SettingSources.COMMAND_CONFIG);
                list.add(new KnownSetting(SettingSources.KAFKA_KEYS + "*", "text", "", setting.doc(), false));
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

    /** Returns the effective values by key, for a log: secrets and the user info of URLs are masked. */
    public static Map<String, String> effective(Record settings) {
        Map<String, String> effective = new LinkedHashMap<>();
        for (RecordComponent component : settings.getClass().getRecordComponents()) {
            Object value = valueOf(component, settings);
            if (isNested(component)) {
                effective.putAll(effective((Record) value));
            } else if (value instanceof KafkaProperties kafka) {
                kafka.masked().forEach((name, text) -> effective.put(SettingSources.KAFKA_KEYS + name, masked(text)));
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

    private static boolean isNested(RecordComponent component) {
        return component.getType().isRecord() && !component.isAnnotationPresent(Setting.class);
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

    private static @Nullable Object value(RecordComponent component, SettingSources sources) {
        Setting setting = settingOf(component);
        if (component.getType() == KafkaProperties.class) {
            return sources.kafkaProperties();
        }
        SettingType type = SettingType.of(elementType(component));
        String key = keyOf(component);
        RawValue raw = sources.find(key, type == SettingType.SECRET);
        if (raw == null && !setting.byDefault().isEmpty()) {
            raw = new RawValue("the default of " + key, setting.byDefault());
        }
        boolean isOptional = component.getType() == Optional.class;
        if (raw == null) {
            if (isOptional) {
                return Optional.empty();
            }
            if (type == SettingType.LIST) {
                return List.of();
            }
            sources.mistakes().add(KnownSetting.environmentName(key) + ": missing; " + setting.doc());
            return null;
        }
        Object value = parse(type, setting, raw, sources.mistakes());
        return isOptional && value != null ? Optional.of(value) : value;
    }

    private static @Nullable Object parse(SettingType type, Setting setting, RawValue raw, List<String> mistakes) {
        String expectation = type.expectation()
                + (setting.atLeast().isEmpty() ? "" : ", at least " + setting.atLeast())
                + (setting.atMost().isEmpty() ? "" : ", at most " + setting.atMost());
        try {
            Object value = type.parse(raw.text());
            boolean isTooSmall = !setting.atLeast().isEmpty() && type.compare(value, type.parse(setting.atLeast())) < 0;
            boolean isTooLarge = !setting.atMost().isEmpty() && type.compare(value, type.parse(setting.atMost())) > 0;
            if (!isTooSmall && !isTooLarge) {
                return value;
            }
        } catch (IllegalArgumentException e) {
            // The message below describes valid values, which helps the user more than the parser's message.
        }
        mistakes.add(raw.source() + ": \"" + masked(raw.text()) + "\" is invalid; expected: " + expectation);
        return null;
    }

    private static <T extends Record> @Nullable T construct(
            Class<T> type, RecordComponent[] components, @Nullable Object[] values, List<String> mistakes) {
        try {
            Constructor<T> constructor = type.getDeclaredConstructor(
                    Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new));
            constructor.setAccessible(true);
            return constructor.newInstance(values);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof InvalidSettingsException invalid) {
                invalid.mistakes().forEach(mistake -> mistakes.add(masked(mistake)));
                return null;
            }
            if (e.getCause() instanceof IllegalArgumentException invalid) {
                mistakes.add(masked(String.valueOf(invalid.getMessage())));
                return null;
            }
            throw new IllegalStateException(e);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Parses a duration in the format of settings: {@code 500ms}, {@code 30s}, {@code 5m} or {@code PT30S}.
     *
     * @throws IllegalArgumentException if the text is not a duration, or the duration is too large
     */
    public static Duration duration(String text) {
        return (Duration) SettingType.DURATION.parse(text);
    }
}

package dev.puri.spring.boot;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * Collects all mistakes while Spring Boot binds the settings to {@link PuriProperties}, and throws them together at the
 * end. Without this class, the binding would stop at the first value that cannot be converted. Other bindings are not
 * affected.
 */
final class MistakeCollector extends AbstractBindHandler {
    private static final ConfigurationPropertyName ROOT = ConfigurationPropertyName.of("puri");

    /**
     * At most one mistake for each property, because a property whose value cannot be converted is also reported as
     * unbound.
     */
    private final Map<ConfigurationPropertyName, String> mistakesByProperty = new LinkedHashMap<>();

    /** Mistakes that were found in the bound values. */
    private final List<String> mistakesInValues = new ArrayList<>();

    MistakeCollector(BindHandler parent) {
        super(parent);
    }

    private static boolean isPuriSetting(ConfigurationPropertyName name) {
        return name.equals(ROOT) || ROOT.isAncestorOf(name);
    }

    @Override
    public @Nullable Object onSuccess(
            ConfigurationPropertyName name, Bindable<?> target, BindContext context, Object result) {
        Object bound = super.onSuccess(name, target, context, result);
        if (name.equals(ROOT) && bound instanceof PuriProperties properties) {
            mistakesInValues.addAll(PropertyMistakes.of(properties));
        }
        return bound;
    }

    @Override
    public @Nullable Object onFailure(
            ConfigurationPropertyName name, Bindable<?> target, BindContext context, Exception error) throws Exception {
        if (!ROOT.isAncestorOf(name)) {
            return super.onFailure(name, target, context, error);
        }
        ConfigurationProperty property = property(name, context);
        boolean isGroup = target.getType().resolve(Object.class).isRecord();
        if (isGroup && property != null && isEnvironmentVariable(property)) {
            // This is an environment variable of the puri command, such as PURI_RESOLVER, and not a setting of the
            // starter.
            return null;
        }
        mistakesByProperty.put(
                name,
                isGroup && property != null
                        ? name + ": is a group of settings, such as " + SettingNames.firstInGroup(name.toString())
                                + origin(property)
                        : describe(name, property, target, error));
        // The binding continues with the default value, and onFinish throws the collected mistakes.
        return null;
    }

    /** Finds the property that caused a failure. The context has none if a value was given for a group of settings. */
    private static @Nullable ConfigurationProperty property(ConfigurationPropertyName name, BindContext context) {
        if (context.getConfigurationProperty() != null) {
            return context.getConfigurationProperty();
        }
        for (ConfigurationPropertySource source : context.getSources()) {
            ConfigurationProperty property = source.getConfigurationProperty(name);
            if (property != null) {
                return property;
            }
        }
        return null;
    }

    private static boolean isEnvironmentVariable(ConfigurationProperty property) {
        ConfigurationPropertySource source = property.getSource();
        return source != null && source.getUnderlyingSource() instanceof SystemEnvironmentPropertySource;
    }

    private static String describe(
            ConfigurationPropertyName name,
            @Nullable ConfigurationProperty property,
            Bindable<?> target,
            Exception error) {
        Throwable cause = error;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        if (property == null) {
            return name + ": " + cause.getMessage();
        }
        Class<?> type = target.getType().resolve(Object.class);
        return name + "=" + property.getValue() + ": is not a valid " + type.getSimpleName() + " (" + cause.getMessage()
                + ")" + origin(property);
    }

    private static String origin(ConfigurationProperty property) {
        return property.getOrigin() == null ? "" : ", in " + property.getOrigin();
    }

    @Override
    public void onFinish(
            ConfigurationPropertyName name, Bindable<?> target, BindContext context, @Nullable Object result)
            throws Exception {
        try {
            super.onFinish(name, target, context, result);
        } catch (UnboundConfigurationPropertiesException e) {
            if (!isPuriSetting(name)) {
                throw e;
            }
            for (ConfigurationProperty property : e.getUnboundProperties()) {
                // The message omits the value, because it may be a token with a misspelt name.
                mistakesByProperty.putIfAbsent(
                        property.getName(),
                        property.getName() + ": there is no such setting; the nearest is "
                                + SettingNames.nearest(property.getName().toString()) + origin(property));
            }
        }
        if (name.equals(ROOT) && !(mistakesByProperty.isEmpty() && mistakesInValues.isEmpty())) {
            List<String> mistakes = new ArrayList<>(mistakesByProperty.values());
            mistakesInValues.stream()
                    .filter(mistake -> mistakesByProperty.keySet().stream()
                            .noneMatch(reported -> mistake.startsWith(reported + ":")))
                    .forEach(mistakes::add);
            mistakes.sort(Comparator.naturalOrder());
            throw new InvalidPuriPropertiesException(mistakes);
        }
    }
}

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
 * Collects all mistakes in the binding of {@link PuriProperties} and fails with them at its end. Boot's binder alone would stop at the
 * first value that does not convert. Does not affect other bindings.
 */
final class MistakeCollector extends AbstractBindHandler {
    private static final ConfigurationPropertyName ROOT = ConfigurationPropertyName.of("puri");

    /** Mistakes by property, at most one each: a property whose value does not convert is also reported as unbound. */
    private final Map<ConfigurationPropertyName, String> unusable = new LinkedHashMap<>();

    private final List<String> others = new ArrayList<>();

    MistakeCollector(BindHandler parent) {
        super(parent);
    }

    private static boolean isBelowRoot(ConfigurationPropertyName name) {
        return name.equals(ROOT) || ROOT.isAncestorOf(name);
    }

    @Override
    public @Nullable Object onSuccess(
            ConfigurationPropertyName name, Bindable<?> target, BindContext context, Object result) {
        Object bound = super.onSuccess(name, target, context, result);
        if (name.equals(ROOT) && bound instanceof PuriProperties properties) {
            others.addAll(PropertyMistakes.of(properties));
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
        if (isGroup && property != null && isVariable(property)) {
            // For example PURI_RESOLVER, a variable of the puri command.
            return null;
        }
        unusable.put(
                name,
                isGroup && property != null
                        ? name + ": is a group of settings, such as " + KnownNames.firstBelow(name.toString())
                                + origin(property)
                        : describe(name, property, target, error));
        // The binding continues with the default; onFinish fails.
        return null;
    }

    /** Finds the property of a failure. The context has none if the value of a group did not convert. */
    private static @Nullable ConfigurationProperty property(ConfigurationPropertyName name, BindContext context) {
        if (context.getConfigurationProperty() != null) {
            return context.getConfigurationProperty();
        }
        for (ConfigurationPropertySource each : context.getSources()) {
            ConfigurationProperty property = each.getConfigurationProperty(name);
            if (property != null) {
                return property;
            }
        }
        return null;
    }

    private static boolean isVariable(ConfigurationProperty property) {
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
        return name + "=" + property.getValue() + ": is no " + type.getSimpleName() + " (" + cause.getMessage() + ")"
                + origin(property);
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
            if (!isBelowRoot(name)) {
                throw e;
            }
            for (ConfigurationProperty each : e.getUnboundProperties()) {
                // Without the value, which may be a token under a misspelt name.
                unusable.putIfAbsent(
                        each.getName(),
                        each.getName() + ": there is no such setting; the nearest is "
                                + KnownNames.nearest(each.getName().toString()) + origin(each));
            }
        }
        if (name.equals(ROOT) && !(unusable.isEmpty() && others.isEmpty())) {
            List<String> all = new ArrayList<>(unusable.values());
            others.stream()
                    .filter(each -> unusable.keySet().stream().noneMatch(known -> each.startsWith(known + ":")))
                    .forEach(all::add);
            all.sort(Comparator.naturalOrder());
            throw new InvalidPuriPropertiesException(all);
        }
    }
}

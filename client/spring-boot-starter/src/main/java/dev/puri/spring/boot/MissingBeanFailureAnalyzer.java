package dev.puri.spring.boot;

import dev.puri.client.Events;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.schemas.collection.Declarations;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.analyzer.AbstractInjectionFailureAnalyzer;
import org.springframework.core.Ordered;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Explains why the starter did not create a bean that the application injects: names the missing settings, artifacts
 * and beans. Precedes Spring Boot's own analyzer, which only advises to define a bean.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class MissingBeanFailureAnalyzer extends AbstractInjectionFailureAnalyzer<NoSuchBeanDefinitionException> {
    private static final String OUTBOX_ENABLED = "puri.outbox.enabled";
    private static final String RELAY_ENABLED = "puri.outbox.relay.enabled";

    private final ConfigurableListableBeanFactory beans;
    private final Binder settings;

    /** Spring Boot passes the bean factory and the environment of the failed context. */
    MissingBeanFailureAnalyzer(BeanFactory beans, Environment environment) {
        this.beans = (ConfigurableListableBeanFactory) beans;
        this.settings = Binder.get(environment);
    }

    /**
     * One reason why a bean does not exist.
     *
     * @param fact a clause, for example "puri.source is not set"
     * @param remedy an imperative sentence without its full stop, for example "Set puri.source"
     */
    private record Reason(String fact, String remedy) {}

    @Override
    protected @Nullable FailureAnalysis analyze(
            Throwable root, NoSuchBeanDefinitionException cause, @Nullable String injectionPoint) {
        ResolvableType missing = cause.getResolvableType();
        Class<?> type = missing == null ? null : missing.resolve();
        // If there is no PuriProperties bean, the starter's auto-configurations are not in this context, for example in
        // a test slice.
        if (type == null || cause.getNumberOfBeansFound() > 0 || !exists(PuriProperties.class)) {
            return null;
        }
        List<Reason> reasons = reasons(type);
        if (reasons.isEmpty()) {
            return null;
        }
        String description =
                "%s needs a bean of type %s. puri-spring-boot-starter does not create the bean, because:\n%s"
                        .formatted(
                                injectionPoint == null ? "The application" : injectionPoint.strip(),
                                type.getName(),
                                reasons.stream()
                                        .map(reason -> "  - " + reason.fact)
                                        .collect(Collectors.joining("\n")));
        String action = reasons.stream().map(Reason::remedy).collect(Collectors.joining("\n"))
                + "\nor define a bean of that type.";
        return new FailureAnalysis(description, action, cause);
    }

    private List<Reason> reasons(Class<?> type) {
        if (type == Events.class) {
            return reasonIfUnset("catalog", "puri.source", "spring.application.name");
        }
        if (type == IdentityPublisher.class) {
            return reasonIfUnset("localhost:9092", "puri.kafka.bootstrap-servers");
        }
        if (type == IdentityResolver.class || type == ResolverClient.class) {
            // If the application defines its own resolver, the starter does not create a client.
            return exists(IdentityResolver.class)
                    ? List.of()
                    : reasonIfUnset("http://localhost:8080", "puri.resolver.addresses");
        }
        if (type == Declarations.class) {
            List<Reason> reasons = reasonIfUnset("classpath:collections.yaml", "puri.collections");
            reasons.addAll(
                    reasonIfAbsent("dev.puri.client.declarations.CollectionsFile", "dev.puri:client-declarations"));
            return reasons;
        }
        // Types are compared by name, because client-outbox may be missing from the class path.
        return switch (type.getName()) {
            case "dev.puri.client.outbox.Outbox", "dev.puri.spring.boot.TransactionOutbox" -> reasonsForMissingOutbox();
            case "dev.puri.client.outbox.RelaySettings", "dev.puri.spring.boot.RelayLifecycle" -> {
                List<Reason> reasons = reasonsForMissingOutbox();
                reasons.addAll(reasonIfDisabled(RELAY_ENABLED));
                yield reasons;
            }
            default -> List.of();
        };
    }

    private List<Reason> reasonsForMissingOutbox() {
        List<Reason> reasons = new ArrayList<>();
        reasons.addAll(reasonIfAbsent("dev.puri.client.outbox.Outbox", "dev.puri:client-outbox"));
        reasons.addAll(reasonIfAbsent("org.springframework.jdbc.core.JdbcTemplate", "org.springframework:spring-jdbc"));
        reasons.addAll(reasonIfDisabled(OUTBOX_ENABLED));
        List<String> databases = Arrays.asList(beans.getBeanNamesForType(DataSource.class, true, false));
        if (databases.isEmpty()) {
            reasons.add(new Reason(
                    "there is no DataSource",
                    "Configure one, for example with spring.datasource.url and a JDBC driver"));
        } else if (databases.size() > 1 && databases.stream().noneMatch(this::isPrimary)) {
            reasons.add(new Reason(
                    "there are several DataSources, and none is @Primary: " + String.join(", ", databases),
                    "Mark the outbox's DataSource as @Primary"));
        }
        return reasons;
    }

    private boolean isPrimary(String name) {
        return beans.containsBeanDefinition(name)
                && beans.getMergedBeanDefinition(name).isPrimary();
    }

    /** Returns a reason if none of these settings has a value. */
    private List<Reason> reasonIfUnset(String example, String... names) {
        List<Reason> reasons = new ArrayList<>();
        if (Arrays.stream(names).noneMatch(name -> OnSettingCondition.isSet(settings, name))) {
            reasons.add(new Reason(
                    names.length == 1 ? names[0] + " is not set" : "neither " + String.join(" nor ", names) + " is set",
                    "Set " + String.join(" or ", names) + ", for example " + names[0] + "=" + example));
        }
        return reasons;
    }

    /** Returns a reason if the setting is false. */
    private List<Reason> reasonIfDisabled(String name) {
        return settings.bind(name, Bindable.of(Boolean.class)).orElse(true)
                ? List.of()
                : List.of(new Reason(name + " is false", "Set " + name + "=true"));
    }

    /** Returns a reason if the artifact is not on the class path, which the absence of one of its types shows. */
    private List<Reason> reasonIfAbsent(String type, String artifact) {
        return ClassUtils.isPresent(type, beans.getBeanClassLoader())
                ? List.of()
                : List.of(new Reason(artifact + " is not on the class path", "Add the dependency " + artifact));
    }

    private boolean exists(Class<?> type) {
        return beans.getBeanNamesForType(type, true, false).length > 0;
    }
}

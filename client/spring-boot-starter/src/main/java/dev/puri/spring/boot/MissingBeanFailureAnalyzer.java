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
 * Names the settings, artifacts and beans without which a bean of the starter does not exist, when the application injects that bean. It
 * precedes Boot's own analyzer, whose advice is to define a bean.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class MissingBeanFailureAnalyzer extends AbstractInjectionFailureAnalyzer<NoSuchBeanDefinitionException> {
    private static final String OUTBOX_ENABLED = "puri.outbox.enabled";
    private static final String RELAY_ENABLED = "puri.outbox.relay.enabled";

    private final ConfigurableListableBeanFactory beans;
    private final Binder settings;

    /** Boot passes the failed context's parts. */
    MissingBeanFailureAnalyzer(BeanFactory beans, Environment environment) {
        this.beans = (ConfigurableListableBeanFactory) beans;
        this.settings = Binder.get(environment);
    }

    /**
     * One reason why a bean does not exist.
     *
     * @param fact a clause, for example "puri.source is not set"
     * @param remedy an imperative, for example "set puri.source"
     */
    private record Reason(String fact, String remedy) {}

    @Override
    protected @Nullable FailureAnalysis analyze(
            Throwable root, NoSuchBeanDefinitionException cause, @Nullable String injectionPoint) {
        ResolvableType wanted = cause.getResolvableType();
        Class<?> type = wanted == null ? null : wanted.resolve();
        // Without the starter's settings its auto-configurations are not in this context, for example in a test slice.
        if (type == null || cause.getNumberOfBeansFound() > 0 || !exists(PuriProperties.class)) {
            return null;
        }
        List<Reason> reasons = reasons(type);
        if (reasons.isEmpty()) {
            return null;
        }
        String description = "%s needs a bean of type %s. puri-spring-boot-starter does not make it, because:\n%s"
                .formatted(
                        injectionPoint == null ? "The application" : injectionPoint.strip(),
                        type.getName(),
                        reasons.stream().map(each -> "  - " + each.fact).collect(Collectors.joining("\n")));
        String action = reasons.stream().map(Reason::remedy).collect(Collectors.joining("\n"))
                + "\nor define a bean of that type.";
        return new FailureAnalysis(description, action, cause);
    }

    private List<Reason> reasons(Class<?> type) {
        if (type == Events.class) {
            return unset("catalog", "puri.source", "spring.application.name");
        }
        if (type == IdentityPublisher.class) {
            return unset("localhost:9092", "puri.kafka.bootstrap-servers");
        }
        if (type == IdentityResolver.class || type == ResolverClient.class) {
            // A resolver of the application's own takes the place of the client.
            return exists(IdentityResolver.class)
                    ? List.of()
                    : unset("http://localhost:8080", "puri.resolver.addresses");
        }
        if (type == Declarations.class) {
            List<Reason> reasons = unset("classpath:collections.yaml", "puri.collections");
            reasons.addAll(absent("dev.puri.client.declarations.CollectionsFile", "dev.puri:client-declarations"));
            return reasons;
        }
        // By name, because client-outbox may not be on the class path.
        return switch (type.getName()) {
            case "dev.puri.client.outbox.Outbox", "dev.puri.spring.boot.TransactionOutbox" -> withoutOutbox();
            case "dev.puri.client.outbox.RelaySettings", "dev.puri.spring.boot.RelayLifecycle" -> {
                List<Reason> reasons = withoutOutbox();
                reasons.addAll(disabled(RELAY_ENABLED));
                yield reasons;
            }
            default -> List.of();
        };
    }

    private List<Reason> withoutOutbox() {
        List<Reason> reasons = new ArrayList<>();
        reasons.addAll(absent("dev.puri.client.outbox.Outbox", "dev.puri:client-outbox"));
        reasons.addAll(absent("org.springframework.jdbc.core.JdbcTemplate", "org.springframework:spring-jdbc"));
        reasons.addAll(disabled(OUTBOX_ENABLED));
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

    /** A reason if none of these settings has a value. */
    private List<Reason> unset(String example, String... names) {
        List<Reason> reasons = new ArrayList<>();
        if (Arrays.stream(names).noneMatch(name -> OnSettingCondition.isSet(settings, name))) {
            reasons.add(new Reason(
                    names.length == 1 ? names[0] + " is not set" : "neither " + String.join(" nor ", names) + " is set",
                    "Set " + String.join(" or ", names) + ", for example " + names[0] + "=" + example));
        }
        return reasons;
    }

    /** A reason if a switch is off. */
    private List<Reason> disabled(String name) {
        return settings.bind(name, Bindable.of(Boolean.class)).orElse(true)
                ? List.of()
                : List.of(new Reason(name + " is false", "Set " + name + "=true"));
    }

    /** A reason if an artifact is not on the class path. */
    private List<Reason> absent(String type, String artifact) {
        return ClassUtils.isPresent(type, beans.getBeanClassLoader())
                ? List.of()
                : List.of(new Reason(artifact + " is not on the class path", "Add the dependency " + artifact));
    }

    private boolean exists(Class<?> type) {
        return beans.getBeanNamesForType(type, true, false).length > 0;
    }
}

package dev.puri.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.puri.client.Events;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.outbox.Outbox;
import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.schemas.collection.Declarations;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.core.env.Environment;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.ArgumentResolver;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;

/** Boot's message of an application that injects a missing bean of the starter names the setting. */
class MissingBeanTest {
    /** An application with the starter. */
    @SpringBootConfiguration
    @ImportAutoConfiguration({
        PuriAutoConfiguration.class,
        PublisherAutoConfiguration.class,
        ResolverAutoConfiguration.class,
        OutboxAutoConfiguration.class
    })
    static class Application {}

    /** Starts an application that must fail, and returns its first analysis, as Boot prints it. */
    private static String failureOf(List<Class<?>> sources, String... settings) {
        List<String> arguments = new ArrayList<>();
        for (String each : settings) {
            arguments.add("--" + each);
        }
        AtomicReference<ConfigurableApplicationContext> context = new AtomicReference<>();
        SpringApplicationBuilder application = new SpringApplicationBuilder(Application.class)
                .sources(sources.toArray(Class<?>[]::new))
                .web(WebApplicationType.NONE)
                .bannerMode(Banner.Mode.OFF)
                // The tests' own application.yml has addresses.
                .properties("spring.config.name=none")
                .initializers(context::set);
        Throwable failure = catchThrowable(() -> application.run(arguments.toArray(String[]::new)));
        assertThat(failure).isNotNull();
        List<FailureAnalysis> analyses = analyze(context.get(), failure);
        assertThat(analyses).isNotEmpty();
        return analyses.get(0).getDescription() + "\n" + analyses.get(0).getAction();
    }

    /** Asks all analyzers in Boot's order, with the arguments that Boot passes. */
    private static List<FailureAnalysis> analyze(ConfigurableApplicationContext context, Throwable failure) {
        return SpringFactoriesLoader.forDefaultResourceLocation()
                .load(
                        FailureAnalyzer.class,
                        ArgumentResolver.of(BeanFactory.class, context.getBeanFactory())
                                .and(Environment.class, context.getEnvironment()),
                        // Like Boot, skips analyzers of libraries that are not on the class path.
                        FailureHandler.handleMessage((message, cause) -> {}))
                .stream()
                .flatMap(each -> Stream.ofNullable(analysis(each, failure)))
                .toList();
    }

    /** Null too if the analyzer needs a library that is not on the class path; Boot skips it then. */
    private static @Nullable FailureAnalysis analysis(FailureAnalyzer analyzer, Throwable failure) {
        try {
            return analyzer.analyze(failure);
        } catch (NoClassDefFoundError e) {
            return null;
        }
    }

    record NeedsPublisher(IdentityPublisher publisher) {}

    record NeedsClient(ResolverClient resolver) {}

    record NeedsResolver(IdentityResolver resolver) {}

    record NeedsEvents(Events events) {}

    record NeedsDeclarations(Declarations declarations) {}

    record NeedsOutbox(Outbox outbox) {}

    record NeedsTransactionOutbox(TransactionOutbox outbox) {}

    record NeedsRelay(RelayLifecycle relay) {}

    @Test
    void aMissingPublisherNamesTheBrokersSetting() {
        assertThat(failureOf(List.of(NeedsPublisher.class)))
                .contains("Parameter 0 of constructor in " + NeedsPublisher.class.getName())
                .contains("required a bean of type 'dev.puri.client.IdentityPublisher'")
                .contains("not set: puri.kafka.bootstrap-servers");
    }

    @Test
    void aMissingResolverNamesTheAddresses() {
        for (Class<?> each : List.of(NeedsClient.class, NeedsResolver.class)) {
            assertThat(failureOf(List.of(each))).contains("not set: puri.resolver.addresses");
        }
    }

    @Test
    void missingEventsNameBothSettings() {
        assertThat(failureOf(List.of(NeedsEvents.class))).contains("not set: puri.source or spring.application.name");
    }

    @Test
    void missingDeclarationsNameTheFile() {
        assertThat(failureOf(List.of(NeedsDeclarations.class))).contains("not set: puri.collections");
    }

    @Test
    void aMissingOutboxNamesItsCondition() {
        for (Class<?> each : List.of(NeedsOutbox.class, NeedsTransactionOutbox.class)) {
            assertThat(failureOf(List.of(each), "puri.outbox.enabled=false")).contains("puri.outbox.enabled");
            assertThat(failureOf(List.of(each))).contains("javax.sql.DataSource");
        }
        assertThat(failureOf(List.of(NeedsOutbox.class, TwoDatabases.class))).contains("'one', 'other'");
    }

    @Test
    void aDisabledRelayNamesItsSetting() {
        assertThat(failureOf(
                        List.of(NeedsRelay.class, PrimaryDatabase.class),
                        "puri.outbox.dialect=postgresql",
                        "puri.outbox.relay.enabled=false"))
                .contains("puri.outbox.relay.enabled");
    }

    static class TwoDatabases {
        @Bean
        DataSource one() {
            return Contexts.noDatabase();
        }

        @Bean
        DataSource other() {
            return Contexts.noDatabase();
        }
    }

    @Import(TwoDatabases.class)
    static class PrimaryDatabase {
        @Bean
        @Primary
        DataSource first() {
            return Contexts.noDatabase();
        }
    }
}

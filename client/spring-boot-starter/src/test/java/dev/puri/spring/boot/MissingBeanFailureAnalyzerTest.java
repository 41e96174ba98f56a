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

/** The message of an application that injects a missing bean of the starter. */
class MissingBeanFailureAnalyzerTest {
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

    record NeedsText(StringBuilder text) {}

    @Test
    void aMissingPublisherNamesTheBrokersSetting() {
        assertThat(failureOf(List.of(NeedsPublisher.class)))
                .contains("Parameter 0 of constructor in " + NeedsPublisher.class.getName())
                .contains("needs a bean of type dev.puri.client.IdentityPublisher")
                .contains("- puri.kafka.bootstrap-servers is not set")
                .contains("Set puri.kafka.bootstrap-servers, for example puri.kafka.bootstrap-servers=localhost:9092");
    }

    @Test
    void aMissingResolverNamesTheAddresses() {
        for (Class<?> each : List.of(NeedsClient.class, NeedsResolver.class)) {
            assertThat(failureOf(List.of(each)))
                    .contains("- puri.resolver.addresses is not set")
                    .contains("Set puri.resolver.addresses, for example puri.resolver.addresses=http://localhost:8080");
        }
    }

    @Test
    void missingEventsNameBothSettings() {
        assertThat(failureOf(List.of(NeedsEvents.class)))
                .contains("- neither puri.source nor spring.application.name is set")
                .contains("Set puri.source or spring.application.name, for example puri.source=catalog");
    }

    @Test
    void missingDeclarationsNameTheFile() {
        assertThat(failureOf(List.of(NeedsDeclarations.class)))
                .contains("- puri.collections is not set")
                .contains("puri.collections=classpath:collections.yaml")
                .doesNotContain("client-declarations");
    }

    @Test
    void aMissingOutboxNamesEachReason() {
        for (Class<?> each : List.of(NeedsOutbox.class, NeedsTransactionOutbox.class, NeedsRelay.class)) {
            assertThat(failureOf(List.of(each), "puri.outbox.enabled=false"))
                    .contains("- puri.outbox.enabled is false", "- there is no DataSource")
                    .contains("Set puri.outbox.enabled=true", "spring.datasource.url")
                    .doesNotContain("client-outbox is not", "spring-jdbc is not", "relay.enabled is false");
        }
        assertThat(failureOf(List.of(NeedsOutbox.class, TwoDatabases.class)))
                .contains("there are several DataSources, and none is @Primary: one, other");
    }

    @Test
    void aDisabledRelayNamesItsSetting() {
        assertThat(failureOf(
                        List.of(NeedsRelay.class, PrimaryDatabase.class),
                        "puri.outbox.dialect=postgresql",
                        "puri.outbox.relay.enabled=false"))
                .contains("- puri.outbox.relay.enabled is false")
                .contains("Set puri.outbox.relay.enabled=true")
                .doesNotContain("DataSource");
    }

    @Test
    void otherBeansAndApplicationsAreLeftToBoot() {
        assertThat(failureOf(List.of(NeedsText.class)))
                .contains("java.lang.StringBuilder' that could not be found")
                .doesNotContain("puri-spring-boot-starter");
        assertThat(failureOf(List.of(NeedsClient.class, OwnResolver.class)))
                .doesNotContain("puri.resolver.addresses, for example");
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

    static class OwnResolver {
        @Bean
        IdentityResolver own() {
            return Contexts.ownResolver();
        }
    }
}

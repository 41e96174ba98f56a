package dev.puri.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.client.Events;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.outbox.Dialect;
import dev.puri.client.outbox.Feed;
import dev.puri.client.outbox.Outbox;
import dev.puri.client.outbox.RelaySettings;
import dev.puri.client.resolve.CacheStatistics;
import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.client.storage.spring.PuriConverter;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.boot.sql.init.dependency.DatabaseInitializationDependencyConfigurer;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.convert.support.DefaultConversionService;

/** Which beans exist, and which beans replace them. */
class AutoConfigurationTest {
    private static final String DIALECT = "puri.outbox.dialect=postgresql";

    private final ApplicationContextRunner runner = Contexts.runner();

    private ApplicationContextRunner withDatabase() {
        return runner.withBean(DataSource.class, Contexts::noDatabase);
    }

    @Test
    void runsOnTheBootThatTheBuildNames() {
        assertThat(SpringBootVersion.getVersion()).isEqualTo(System.getProperty("puri.boot"));
    }

    @Test
    void withoutSettingsNoBeanConnects() {
        runner.run(context -> assertThat(context)
                .hasNotFailed()
                .doesNotHaveBean(IdentityPublisher.class)
                .doesNotHaveBean(IdentityResolver.class)
                .doesNotHaveBean(Events.class)
                .doesNotHaveBean(Outbox.class));
    }

    @Test
    void aSettingMakesItsBean() {
        runner.withPropertyValues(Contexts.KAFKA)
                .withPropertyValues("puri.resolver.addresses[0]=http://127.0.0.1:1", "puri.source=catalog")
                .run(context -> assertThat(context)
                        .hasSingleBean(IdentityPublisher.class)
                        .hasSingleBean(ResolverClient.class)
                        .hasSingleBean(Events.class));
    }

    @Test
    void theApplicationsNameIsTheSourceOfItsEvents() {
        runner.withPropertyValues("spring.application.name=catalog").run(context -> {
            Event event = context.getBean(Events.class)
                    .deleted(Puri.parse("music:tracks:1"))
                    .build();
            assertThat(event.source()).isEqualTo("catalog");
        });
        runner.withPropertyValues("spring.application.name=catalog", "puri.source=tracks")
                .run(context -> assertThat(context.getBean(Events.class)
                                .deleted(Puri.parse("music:tracks:1"))
                                .build()
                                .source())
                        .isEqualTo("tracks"));
    }

    @Test
    void theApplicationsOwnBeansTakeThePlaceOfAll() {
        IdentityResolver resolver = Contexts.ownResolver();
        Events events = new Events("own");
        Outbox outbox = new Outbox(Dialect.MYSQL);
        withDatabase()
                .withPropertyValues(Contexts.KAFKA)
                .withPropertyValues("puri.resolver.addresses=http://127.0.0.1:1", "puri.source=catalog", DIALECT)
                .withBean(IdentityResolver.class, () -> resolver)
                .withBean(Events.class, () -> events)
                .withBean(Outbox.class, () -> outbox)
                .run(context -> {
                    assertThat(context).doesNotHaveBean(ResolverClient.class);
                    assertThat(context.getBean(IdentityResolver.class)).isSameAs(resolver);
                    assertThat(context.getBean(Events.class)).isSameAs(events);
                    assertThat(context.getBean(Outbox.class)).isSameAs(outbox);
                });
    }

    @Test
    void thePublisherKeepsToTheRulesOfTheRegistry() {
        runner.withPropertyValues(Contexts.KAFKA)
                .withPropertyValues("puri.kafka.properties.acks=1", "puri.kafka.properties.transactional.id=t")
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .isInstanceOf(InvalidPuriPropertiesException.class)
                        .hasMessageContaining("puri.kafka.properties.acks=1: must be all")
                        .hasMessageContaining("puri.kafka.properties.transactional.id=t: must be absent"));
    }

    @Test
    void aCacheOpensTheFeedOfChanges() {
        runner.withPropertyValues("puri.resolver.addresses=http://127.0.0.1:1", "puri.resolver.cache.size=10")
                .run(context -> assertThat(context.getBean(ResolverClient.class)
                                .cacheStatistics()
                                .feed())
                        .isEqualTo(CacheStatistics.Feed.CONNECTING));
    }

    @Test
    void anUnknownSslBundleIsNamed() {
        runner.withPropertyValues("puri.resolver.addresses=https://127.0.0.1:1", "puri.resolver.ssl-bundle=inside")
                .run(context -> assertThat(context).hasFailed());
    }

    @Test
    void theOutboxNeedsItsModuleAndOneDatabase() {
        withDatabase()
                .withPropertyValues(DIALECT)
                .withClassLoader(new FilteredClassLoader("dev.puri.client.outbox"))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("puriTransactionOutbox"));
        withDatabase()
                .withPropertyValues(DIALECT)
                .withBean("second", DataSource.class, Contexts::noDatabase)
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(Outbox.class));
        withDatabase()
                .withPropertyValues("puri.outbox.enabled=false")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(Outbox.class));
    }

    @Test
    void theRelayRunsForAsLongAsTheContext() {
        RelayLifecycle[] seen = new RelayLifecycle[1];
        withDatabase()
                .withPropertyValues(Contexts.KAFKA)
                .withPropertyValues(
                        DIALECT,
                        "puri.outbox.table=catalog.events",
                        "puri.outbox.relay.poll-interval=7ms",
                        "puri.collections=classpath:collections.yaml")
                .run(context -> {
                    assertThat(context).hasSingleBean(TransactionOutbox.class);
                    RelaySettings settings = context.getBean(RelaySettings.class);
                    assertThat(settings.table()).isEqualTo("catalog.events");
                    assertThat(settings.pollInterval()).hasMillis(7);
                    assertThat(settings.dialect()).isEqualTo(Dialect.POSTGRESQL);
                    assertThat(settings.ownsTopic().test("music")).isTrue();
                    assertThat(settings.ownsTopic().test("film")).isFalse();
                    seen[0] = context.getBean(RelayLifecycle.class);
                    assertThat(seen[0].isRunning()).isTrue();
                    assertThat(seen[0].relay()).isNotNull();
                });
        assertThat(seen[0].isRunning()).isFalse();
    }

    @Test
    void aRelayStartsAgainAfterItsContextWasStopped() {
        RelayLifecycle relay =
                new RelayLifecycle(RelaySettings.of(Contexts.noDatabase(), Dialect.POSTGRESQL, Map.of()), Feed.NONE);
        relay.start();
        var first = relay.relay();
        relay.stop();
        relay.start();
        assertThat(relay.relay()).isNotSameAs(first);
        relay.stop();
        relay.wake();
        assertThat(relay.isRunning()).isFalse();
    }

    @Test
    void aContextThatFailsToStartLeavesNoRelayRunning() {
        RelayLifecycle relay =
                new RelayLifecycle(RelaySettings.of(Contexts.noDatabase(), Dialect.POSTGRESQL, Map.of()), Feed.NONE);
        StartFailure failure = new StartFailure(relay);
        withDatabase()
                .withBean(Outbox.class, () -> new Outbox(Dialect.POSTGRESQL))
                .withBean(RelayLifecycle.class, () -> relay)
                .withBean(StartFailure.class, () -> failure)
                .run(context -> assertThat(context).hasFailed());
        assertThat(failure.sawRelayRun).isTrue();
        assertThat(relay.isRunning()).isFalse();
    }

    /** Fails after the relay has started, as a web server does whose port is taken. */
    private static final class StartFailure implements SmartLifecycle {
        private final RelayLifecycle relay;
        private boolean sawRelayRun;

        StartFailure(RelayLifecycle relay) {
            this.relay = relay;
        }

        @Override
        public void start() {
            sawRelayRun = relay.isRunning();
            throw new IllegalStateException("the port is taken");
        }

        @Override
        public void stop() {}

        @Override
        public boolean isRunning() {
            return false;
        }
    }

    @Test
    void tablesAreCreatedAfterTheApplicationsMigrations() {
        withDatabase()
                .withUserConfiguration(Migrations.class)
                .withPropertyValues(DIALECT, "puri.outbox.relay.enabled=false")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getBeanFactory()
                                    .getBeanDefinition("puriOutboxDatabase")
                                    .getDependsOn())
                            .contains("migration");
                });
    }

    @Configuration(proxyBeanMethods = false)
    @Import(DatabaseInitializationDependencyConfigurer.class)
    static class Migrations {
        /** Of a type that Boot takes to prepare a database, as it does Flyway's and Liquibase's. */
        @Bean
        DataSourceScriptDatabaseInitializer migration(DataSource dataSource) {
            return new DataSourceScriptDatabaseInitializer(dataSource, new DatabaseInitializationSettings()) {
                @Override
                public boolean initializeDatabase() {
                    return true;
                }
            };
        }
    }

    @Test
    void aRelayWithoutBrokersIsAMistakeThatNamesTheSolutions() {
        withDatabase()
                .withPropertyValues(DIALECT)
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .hasMessageContaining("puri.kafka.bootstrap-servers: is not set")
                        .hasMessageContaining("puri.outbox.relay.enabled=false"));
        withDatabase()
                .withPropertyValues(DIALECT, "puri.outbox.relay.enabled=false")
                .run(context -> assertThat(context)
                        .hasSingleBean(TransactionOutbox.class)
                        .doesNotHaveBean(RelayLifecycle.class));
    }

    @Test
    void askingAnUnreachableDatabaseForItsDialectFails() {
        withDatabase()
                .withPropertyValues(Contexts.KAFKA)
                .run(context -> assertThat(context.getStartupFailure()).hasStackTraceContaining("away"));
    }

    @Test
    void noDatabaseIsAskedWhenTheOutboxIsReplaced() {
        RelayLifecycle relay =
                new RelayLifecycle(RelaySettings.of(Contexts.noDatabase(), Dialect.POSTGRESQL, Map.of()), Feed.NONE);
        withDatabase()
                .withBean(Outbox.class, () -> new Outbox(Dialect.POSTGRESQL))
                .withBean(RelayLifecycle.class, () -> relay)
                .run(context -> {
                    assertThat(context).hasNotFailed().hasSingleBean(TransactionOutbox.class);
                    assertThat(context.getBean(RelayLifecycle.class)).isSameAs(relay);
                    assertThat(relay.isRunning()).isTrue();
                });
    }

    @Test
    void aWrongTableIsNamed() {
        withDatabase()
                .withPropertyValues(DIALECT, "puri.outbox.relay.enabled=false", "puri.outbox.table=a b")
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .hasMessageContaining("puri.outbox.table=a b: "));
    }

    @Test
    void declarationsOfAFileCanBeReplaced() {
        runner.withPropertyValues("puri.collections=classpath:collections.yaml")
                .run(context -> assertThat(context.getBean(Declarations.class).ownsTopic("music"))
                        .isTrue());
        runner.withPropertyValues("puri.collections=classpath:collections.yaml")
                .withBean(Declarations.class, Declarations::none)
                .run(context -> assertThat(context.getBean(Declarations.class).ownsTopic("music"))
                        .isFalse());
    }

    @Test
    void namesAreConvertedInJsonByTheAvailableJackson() {
        runner.run(context -> {
            assertThat(context).hasBean("puriJackson2Module");
            assertThat(context.containsBean("puriJackson3Module")).isEqualTo(Contexts.isBoot4());
        });
        runner.withClassLoader(new FilteredClassLoader("dev.puri.client.storage"))
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .doesNotHaveBean("puriJackson2Module")
                        .doesNotHaveBean("puriConverter"));
    }

    @Test
    void namesAreConvertedInSettingsAndParameters() {
        runner.withUserConfiguration(OwnSettings.class)
                .withPropertyValues("own.names=music:tracks:1,Music:Tracks:2")
                .run(context -> {
                    assertThat(context.getBean(Own.class).names())
                            .containsExactly(Puri.parse("music:tracks:1"), Puri.parse("music:tracks:2"));
                    DefaultConversionService service = new DefaultConversionService();
                    service.addConverter(context.getBean(PuriConverter.class));
                    assertThat(service.convert(Puri.parse("music:tracks:1"), String.class))
                            .isEqualTo("music:tracks:1");
                });
    }

    @ConfigurationProperties("own")
    record Own(List<Puri> names) {}

    @Configuration(proxyBeanMethods = false)
    @EnableConfigurationProperties(Own.class)
    static class OwnSettings {}
}

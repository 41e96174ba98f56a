package dev.puri.spring.boot;

import dev.puri.client.outbox.Feed;
import dev.puri.client.outbox.Outbox;
import dev.puri.client.outbox.RelaySettings;
import dev.puri.schemas.collection.Declarations;
import java.util.List;
import javax.sql.DataSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.jdbc.core.JdbcTemplate;

/** Configures an outbox in the application's database, and the relay of the outbox. */
@AutoConfiguration(
        after = {PuriAutoConfiguration.class, PublisherAutoConfiguration.class},
        afterName = {
            "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
            "org.springframework.boot.micrometer.tracing.autoconfigure.MicrometerTracingAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.tracing.MicrometerTracingAutoConfiguration"
        })
@ConditionalOnClass({Outbox.class, JdbcTemplate.class})
@ConditionalOnSingleCandidate(DataSource.class)
@ConditionalOnProperty(prefix = "puri.outbox", name = "enabled", matchIfMissing = true)
public class OutboxAutoConfiguration {
    /**
     * Dialect and table of the outbox. This bean is lazy: if the application replaces all beans that depend on this
     * bean, no connection is opened. The bean is created after the application's migrations, because it may create
     * tables, and Flyway refuses a schema that is not empty.
     */
    @Bean
    @Lazy
    @DependsOnDatabaseInitialization
    @ConditionalOnMissingBean
    OutboxDatabase puriOutboxDatabase(DataSource dataSource, PuriProperties properties) {
        return OutboxDatabase.open(dataSource, properties.outbox());
    }

    /** The outbox for code that passes its own JDBC connection. */
    @Bean
    @ConditionalOnMissingBean
    Outbox puriOutbox(OutboxDatabase database, ObjectProvider<TraceSource> traceSources) {
        TraceSource traceSource = traceSources.getIfAvailable(() -> () -> null);
        return new Outbox(database.dialect(), database.table(), traceSource::current);
    }

    /** The outbox for code in a Spring transaction. */
    @Bean
    @ConditionalOnMissingBean
    TransactionOutbox puriTransactionOutbox(
            Outbox outbox, DataSource dataSource, ObjectProvider<RelayLifecycle> relays) {
        // The relay is looked up at each commit, so that a relay may depend on beans that use the outbox.
        return new TransactionOutbox(outbox, dataSource, () -> relays.ifUnique(RelayLifecycle::wake));
    }

    /** Configures the relay of the outbox. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(prefix = "puri.outbox.relay", name = "enabled", matchIfMissing = true)
    static class RelayConfiguration {
        @Bean
        @ConditionalOnMissingBean({RelaySettings.class, RelayLifecycle.class})
        RelaySettings puriRelaySettings(
                DataSource dataSource,
                OutboxDatabase database,
                PuriProperties properties,
                ObjectProvider<Declarations> declarations) {
            if (properties.kafka().bootstrapServers().isEmpty()) {
                throw new InvalidPuriPropertiesException(List.of(
                        "puri.kafka.bootstrap-servers: is not set, but the relay of the outbox needs it. If this"
                                + " application only writes to the outbox, set puri.outbox.relay.enabled=false; if it has"
                                + " no outbox, set puri.outbox.enabled=false"));
            }
            PuriProperties.Relay relay = properties.outbox().relay();
            return RelaySettings.of(dataSource, database.dialect(), properties.producerProperties())
                    .withTable(database.table())
                    .withOwnsTopic(PublisherAutoConfiguration.namespacesWithOwnTopic(declarations))
                    .withTimes(
                            PuriProperties.bounded(relay.pollInterval()),
                            PuriProperties.bounded(relay.sweepInterval()),
                            PuriProperties.bounded(relay.firstBackoff()));
        }

        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnBean(RelaySettings.class)
        RelayLifecycle puriRelay(RelaySettings settings, ObjectProvider<Feed> feed) {
            return new RelayLifecycle(settings, feed.getIfAvailable(() -> Feed.NONE));
        }
    }

    /** Configures trace contexts from Micrometer Tracing. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({io.micrometer.tracing.Tracer.class, io.micrometer.tracing.propagation.Propagator.class})
    @ConditionalOnBean({io.micrometer.tracing.Tracer.class, io.micrometer.tracing.propagation.Propagator.class})
    static class TraceConfiguration {
        @Bean
        @ConditionalOnMissingBean
        TraceSource puriTraceSource(
                io.micrometer.tracing.Tracer tracer, io.micrometer.tracing.propagation.Propagator propagator) {
            return new MicrometerTraceSource(tracer, propagator);
        }
    }
}

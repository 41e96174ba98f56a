package dev.puri.spring.boot;

import dev.puri.client.outbox.Outbox;
import dev.puri.client.resolve.IdentityResolver;
import java.time.InstantSource;
import java.util.Map;
import org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Configures health indicators for Spring Boot 3. {@code Boot4HealthAutoConfiguration} has the same code with the types
 * of Spring Boot 4.
 */
@AutoConfiguration(after = {MonitorAutoConfiguration.class, ResolverAutoConfiguration.class})
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
public class Boot3HealthAutoConfiguration {
    @Bean
    @ConditionalOnBean(IdentityResolver.class)
    @ConditionalOnEnabledHealthIndicator("puri-resolver")
    @ConditionalOnMissingBean(name = "puriResolverHealthIndicator")
    HealthIndicator puriResolverHealthIndicator(Map<String, IdentityResolver> resolvers) {
        ResolverHealth health = new ResolverHealth(resolvers);
        return () -> health(health.report());
    }

    private static Health health(HealthReport report) {
        return Health.status(report.status()).withDetails(report.details()).build();
    }

    /** Configures the health indicator of relays. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(Outbox.class)
    @ConditionalOnBean(RelayMonitors.class)
    static class RelayConfiguration {
        @Bean
        @ConditionalOnEnabledHealthIndicator("puri-outbox")
        @ConditionalOnMissingBean(name = "puriOutboxHealthIndicator")
        HealthIndicator puriOutboxHealthIndicator(RelayMonitors monitors, PuriProperties properties) {
            RelayHealth health =
                    new RelayHealth(monitors, properties.outbox().relay().maxLag(), InstantSource.system());
            return () -> health(health.report());
        }
    }
}

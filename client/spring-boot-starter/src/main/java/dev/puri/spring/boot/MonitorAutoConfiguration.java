package dev.puri.spring.boot;

import dev.puri.client.IdentityPublisher;
import dev.puri.client.outbox.Outbox;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.schemas.serde.UserInfo;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.binder.kafka.KafkaClientMetrics;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Configures metrics of all publishers, relays and resolver clients, also of those that the application defines, and
 * masks secrets in the actuator's endpoints.
 */
@AutoConfiguration(
        after = {OutboxAutoConfiguration.class, PublisherAutoConfiguration.class, ResolverAutoConfiguration.class})
public class MonitorAutoConfiguration {
    /** Configures the cached status of each relay, which metrics and health checks read. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(Outbox.class)
    @ConditionalOnBean(RelayLifecycle.class)
    static class RelayConfiguration {
        @Bean
        RelayMonitors puriRelayMonitors(Map<String, RelayLifecycle> relays) {
            Map<String, RelayMonitor> monitors = new HashMap<>();
            relays.forEach((name, relay) -> monitors.put(name, new RelayMonitor(relay)));
            return new RelayMonitors(monitors);
        }

        /** Configures metrics of relays. */
        @Configuration(proxyBeanMethods = false)
        @ConditionalOnClass(MeterBinder.class)
        static class MetricsConfiguration {
            @Bean
            @ConditionalOnMissingBean
            RelayMetrics puriRelayMetrics(RelayMonitors monitors) {
                return new RelayMetrics(monitors);
            }
        }
    }

    /**
     * Masks secrets in the settings that actuator endpoints show, if the application has enabled the display of values.
     */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(SanitizingFunction.class)
    static class SanitizerConfiguration {
        /**
         * Masks the user info of URLs. Runs last, so that a function of the application can first hide the whole value.
         */
        @Bean
        @Order(Ordered.LOWEST_PRECEDENCE)
        SanitizingFunction puriSanitizingFunction() {
            return setting -> isPuriSetting(setting.getKey()) && setting.getValue() instanceof CharSequence text
                    ? setting.withValue(UserInfo.masked(text.toString()))
                    : setting;
        }

        /** Also returns true for an environment variable, such as {@code PURI_SCHEMA_REGISTRY_URL}. */
        private static boolean isPuriSetting(String key) {
            return key.toLowerCase(Locale.ROOT).replace('_', '.').startsWith("puri.");
        }
    }

    /** Configures metrics of publishers. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(KafkaClientMetrics.class)
    @ConditionalOnBean(IdentityPublisher.class)
    static class PublisherConfiguration {
        @Bean
        @ConditionalOnMissingBean
        PublisherMetrics puriPublisherMetrics(Map<String, IdentityPublisher> publishers) {
            return new PublisherMetrics(publishers);
        }
    }

    /** Configures metrics of resolver clients. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterBinder.class)
    @ConditionalOnBean(ResolverClient.class)
    static class ResolverConfiguration {
        @Bean
        @ConditionalOnMissingBean
        ResolverMetrics puriResolverMetrics(Map<String, ResolverClient> clients) {
            return new ResolverMetrics(clients);
        }
    }
}

package dev.puri.spring.boot;

import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.ResolverClient;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;

/** Configures the resolver client. */
@AutoConfiguration(
        after = PuriAutoConfiguration.class,
        afterName = "org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration")
public class ResolverAutoConfiguration {
    /**
     * The resolver client. Without a cache it connects at the first look-up. With a cache it connects at once, in the
     * background, to receive changes.
     */
    @Bean
    @ConditionalOnMissingBean(IdentityResolver.class)
    @ConditionalOnAnySetting("puri.resolver.addresses")
    ResolverClient puriResolverClient(PuriProperties properties, ObjectProvider<SslBundles> bundles) {
        PuriProperties.Resolver resolver = properties.resolver();
        String bundle = resolver.sslBundle();
        return ResolverClient.open(resolver.options(
                bundle == null ? null : bundles.getObject().getBundle(bundle).createSslContext()));
    }
}

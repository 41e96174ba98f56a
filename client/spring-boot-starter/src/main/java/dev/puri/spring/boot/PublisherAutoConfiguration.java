package dev.puri.spring.boot;

import dev.puri.client.Events;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.declarations.CollectionsFile;
import dev.puri.client.resolve.IdentityResolver;
import dev.puri.schemas.collection.Declarations;
import dev.puri.schemas.log.Event;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Predicate;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.core.io.Resource;

/** Configures the factory of events, and the publisher, which publishes events without an outbox. */
@AutoConfiguration(after = {PuriAutoConfiguration.class, ResolverAutoConfiguration.class})
public class PublisherAutoConfiguration {
    /** The factory for this application's events. */
    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnAnySetting({"puri.source", "spring.application.name"})
    Events puriEvents(PuriProperties properties, Environment environment) {
        if (properties.source() != null) {
            return new Events(properties.source());
        }
        String name = environment.getRequiredProperty("spring.application.name");
        try {
            Event.requireSource("spring.application.name:", name);
        } catch (IllegalArgumentException e) {
            throw new InvalidPuriPropertiesException(List.of(e.getMessage() + "; or set puri.source"));
        }
        return new Events(name);
    }

    /**
     * The publisher. It connects in the background. If the application has one resolver, the publisher asks that
     * resolver for the outcomes of events.
     */
    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnAnySetting("puri.kafka.bootstrap-servers")
    IdentityPublisher puriIdentityPublisher(
            PuriProperties properties,
            ObjectProvider<Declarations> declarations,
            ObjectProvider<IdentityResolver> resolvers) {
        IdentityResolver resolver = resolvers.getIfUnique();
        Predicate<String> ownsTopic = namespacesWithOwnTopic(declarations);
        return resolver == null
                ? new IdentityPublisher(properties.producerProperties(), ownsTopic)
                : new IdentityPublisher(properties.producerProperties(), ownsTopic, resolver);
    }

    /** Returns a predicate that is true for the namespaces whose events go to their own topic. */
    static Predicate<String> namespacesWithOwnTopic(ObjectProvider<Declarations> declarations) {
        return declarations.getIfAvailable(Declarations::none)::ownsTopic;
    }

    /** Configures the declarations, read from the file that the property {@code puri.collections} names. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(CollectionsFile.class)
    @ConditionalOnAnySetting("puri.collections")
    static class DeclarationsConfiguration {
        @Bean
        @ConditionalOnMissingBean
        Declarations puriDeclarations(PuriProperties properties) throws IOException {
            Resource file = properties.collections();
            if (file == null) {
                return Declarations.none();
            }
            String name = file.getFilename() == null ? file.getDescription() : file.getFilename();
            try (Reader text = new InputStreamReader(file.getInputStream(), StandardCharsets.UTF_8)) {
                return Declarations.of(CollectionsFile.read(name, text));
            } catch (CollectionsFile.InvalidFileException e) {
                throw new InvalidPuriPropertiesException(List.of("puri.collections=" + file + ":\n" + e.getMessage()));
            }
        }
    }
}

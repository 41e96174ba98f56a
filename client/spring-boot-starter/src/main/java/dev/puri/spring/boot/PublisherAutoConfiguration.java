package dev.puri.spring.boot;

import dev.puri.client.Events;
import dev.puri.client.IdentityPublisher;
import dev.puri.client.declarations.CollectionsFile;
import dev.puri.schemas.collection.Declarations;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.core.io.Resource;

/** Makes events, and publishes them without an outbox. */
@AutoConfiguration(after = PuriAutoConfiguration.class)
public class PublisherAutoConfiguration {
    /** Events of this application. */
    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnSetting({"puri.source", "spring.application.name"})
    Events puriEvents(PuriProperties properties, Environment environment) {
        String source = properties.source();
        return new Events(source != null ? source : environment.getRequiredProperty("spring.application.name"));
    }

    /** The publisher. It connects in the background. */
    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnSetting("puri.kafka.bootstrap-servers")
    IdentityPublisher puriIdentityPublisher(PuriProperties properties, ObjectProvider<Declarations> declarations) {
        Map<String, Object> producer = new HashMap<>(properties.producer());
        PuriProperties.Resolver resolver = properties.resolver();
        // Its await opens a client of its own, which takes no SSL bundle.
        if (!resolver.addresses().isEmpty() && resolver.sslBundle() == null) {
            producer.put(IdentityPublisher.RESOLVER_URL, resolver.addresses().get(0));
            if (resolver.token() != null) {
                producer.put(IdentityPublisher.RESOLVER_TOKEN, resolver.token());
            }
        }
        try {
            return new IdentityPublisher(producer, ownsTopic(declarations));
        } catch (IllegalArgumentException e) {
            // It names Kafka's properties, one in a line.
            List<String> mistakes = String.valueOf(e.getMessage())
                    .lines()
                    .skip(1)
                    .map(line -> "puri.kafka.properties." + line.strip())
                    .toList();
            if (mistakes.isEmpty()) {
                throw e;
            }
            throw new InvalidPuriPropertiesException(mistakes);
        }
    }

    /** Whether a namespace's events go to its own topic. */
    static Predicate<String> ownsTopic(ObjectProvider<Declarations> declarations) {
        return declarations.getIfAvailable(Declarations::none)::ownsTopic;
    }

    /** Reads {@code puri.collections}. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(CollectionsFile.class)
    @ConditionalOnSetting("puri.collections")
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

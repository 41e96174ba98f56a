package com.example.music;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.puri.client.IdentityPublisher;
import dev.puri.client.resolve.ResolverClient;
import dev.puri.client.resolve.ResolverOptions;
import dev.puri.client.resolve.Verdict;
import dev.puri.client.testing.Registry;
import dev.puri.client.testing.RegistryTest;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

@RegistryTest(collections = "collections.yaml")
@SpringJUnitConfig // with Spring Boot: @SpringBootTest
class TracksSpringIT {
    @DynamicPropertySource
    static void registry(DynamicPropertyRegistry properties) {
        Registry.shared().springProperties().forEach((name, value) -> properties.add(name, () -> value));
    }

    @Autowired
    ResolverClient resolver;

    @Test
    void aNameThatNobodyCreatedIsUnknown() {
        assertInstanceOf(Verdict.Unknown.class, resolver.resolve("music:tracks:nobody"));
    }

    @Configuration // with puri-spring-boot-starter these beans are there already
    static class Beans {
        @Bean
        IdentityPublisher publisher(
                @Value("${puri.kafka.bootstrap-servers}") String brokers,
                @Value("${puri.schema-registry.url}") String schemas) {
            return new IdentityPublisher(Map.of("bootstrap.servers", brokers, "schema.registry.url", schemas));
        }

        @Bean
        ResolverClient resolver(@Value("${puri.resolver.addresses}") String resolver) {
            return ResolverClient.open(ResolverOptions.at(resolver).build());
        }
    }
}

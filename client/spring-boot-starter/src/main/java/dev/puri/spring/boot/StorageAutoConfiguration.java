package dev.puri.spring.boot;

import dev.puri.client.storage.CanonicalTextType;
import dev.puri.client.storage.spring.PuriConverter;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.ConfigurationPropertiesBinding;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Configures the conversion of pURIs and handles in JSON, in controller parameters and in settings, if client-storage
 * is on the class path.
 */
@AutoConfiguration(
        beforeName = {
            "org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration",
            "org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration",
            "org.springframework.boot.jackson2.autoconfigure.Jackson2AutoConfiguration"
        })
@ConditionalOnClass(CanonicalTextType.class)
public class StorageAutoConfiguration {
    @Bean
    @ConditionalOnMissingBean
    @ConfigurationPropertiesBinding
    static PuriConverter puriConverter() {
        return new PuriConverter();
    }

    /** Configures the module for Jackson 2, which Spring Boot 3 uses. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(com.fasterxml.jackson.databind.ObjectMapper.class)
    static class Jackson2Configuration {
        @Bean
        @ConditionalOnMissingBean
        dev.puri.client.storage.jackson.PuriModule puriJackson2Module() {
            return new dev.puri.client.storage.jackson.PuriModule();
        }
    }

    /** Configures the module for Jackson 3, which Spring Boot 4 uses. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(tools.jackson.databind.JacksonModule.class)
    static class Jackson3Configuration {
        @Bean
        @ConditionalOnMissingBean
        dev.puri.client.storage.jackson3.PuriModule puriJackson3Module() {
            return new dev.puri.client.storage.jackson3.PuriModule();
        }
    }
}

package dev.puri.spring.boot;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/** Binds the settings with the prefix {@code puri}. */
@AutoConfiguration
@EnableConfigurationProperties(PuriProperties.class)
public class PuriAutoConfiguration {
    @Bean
    static ConfigurationPropertiesBindHandlerAdvisor puriMistakeCollector() {
        return MistakeCollector::new;
    }
}

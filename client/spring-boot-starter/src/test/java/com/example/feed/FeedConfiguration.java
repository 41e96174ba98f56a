package com.example.feed;

import dev.puri.client.outbox.Feed;
import dev.puri.client.outbox.debezium.DebeziumFeed;
import dev.puri.spring.boot.PuriProperties;
import java.util.Map;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

@Configuration(proxyBeanMethods = false)
public class FeedConfiguration {
    @Bean
    Feed feed(PuriProperties puri, Environment environment) {
        Map<String, String> connector = Binder.get(environment)
                .bind("debezium", Bindable.mapOf(String.class, String.class))
                .get();
        return new DebeziumFeed(puri.outbox().table(), connector);
    }
}

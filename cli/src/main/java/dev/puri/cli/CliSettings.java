package dev.puri.cli;

import dev.puri.http.KafkaProperties;
import dev.puri.http.Setting;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;

/** Where the commands find the registry's parts; the defaults fit {@code puri up}. */
record CliSettings(
        @Setting(doc = "Kafka brokers to connect to first, HOST:PORT,….", byDefault = CliSettings.BOOTSTRAP_SERVER)
        String bootstrapServer,

        @Setting(doc = "Base URL of the schema registry's Confluent API.", byDefault = CliSettings.SCHEMA_REGISTRY)
        URI schemaRegistry,

        @Setting(doc = "Base URL of a resolver's internal listener.", byDefault = CliSettings.RESOLVER)
        URI resolver,

        @Setting(doc = "Kafka client properties, passed on as they are.")
        KafkaProperties kafka) {

    static final String BOOTSTRAP_SERVER = "127.0.0.1:9092";
    static final String SCHEMA_REGISTRY = "http://127.0.0.1:8081/apis/ccompat/v7";
    static final String RESOLVER = "http://127.0.0.1:8080";

    /** How long a call to the cluster may take before it counts as out of reach. */
    static final int REACH_MILLIS = 15_000;

    /** Those of a stack in this process. */
    static CliSettings of(EmbeddedStack stack) {
        return new CliSettings(
                stack.bootstrapServers(),
                URI.create(stack.schemaRegistry()),
                URI.create(stack.resolver()),
                KafkaProperties.NONE);
    }

    /** Properties for Kafka clients and for the serdes. */
    Map<String, Object> clientProperties() {
        Map<String, Object> properties = new HashMap<>();
        properties.put("schema.registry.url", schemaRegistry.toString());
        properties.put("client.id", "puri-cli");
        properties.putAll(kafka.byName());
        properties.put("bootstrap.servers", bootstrapServer);
        return properties;
    }

    /** The same for an admin client or a consumer, which wait no longer than {@value #REACH_MILLIS} ms. */
    Map<String, Object> impatientProperties() {
        Map<String, Object> properties = clientProperties();
        properties.putIfAbsent("default.api.timeout.ms", REACH_MILLIS);
        properties.putIfAbsent("request.timeout.ms", REACH_MILLIS);
        return properties;
    }
}

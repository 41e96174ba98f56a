package dev.puri.cli;

import dev.puri.client.CollectionRegistry;
import dev.puri.settings.KafkaProperties;
import dev.puri.settings.Secret;
import dev.puri.settings.Setting;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Addresses of the registry's servers, for the commands; the defaults are those of {@code puri up}. */
record CliSettings(
        @Setting(doc = "Kafka brokers to connect to first, HOST:PORT,….", byDefault = CliSettings.BOOTSTRAP_SERVER)
        String bootstrapServer,

        @Setting(doc = "Base URL of the schema registry's Confluent API.", byDefault = CliSettings.SCHEMA_REGISTRY)
        URI schemaRegistry,

        @Setting(doc = "Base URL of a resolver's internal listener.", byDefault = CliSettings.RESOLVER)
        URI resolver,

        @Setting(doc = "Base URL of a search indexer's internal listener.", byDefault = CliSettings.SEARCH)
        URI search,

        @Setting(doc = "Bearer token for servers that ask for one.")
        Optional<Secret> token,

        @Setting(doc = "Kafka client properties, passed on as they are.")
        KafkaProperties kafka) {

    static final String BOOTSTRAP_SERVER = "127.0.0.1:9092";
    static final String SCHEMA_REGISTRY = "http://127.0.0.1:8081/apis/ccompat/v7";
    static final String RESOLVER = "http://127.0.0.1:8080";
    static final String SEARCH = "http://127.0.0.1:8083";

    private static final String API_TIMEOUT = "default.api.timeout.ms";
    private static final String DEFAULT_API_TIMEOUT = "15000";
    private static final long MAX_REQUEST_MILLIS = 10_000;

    /** These depend on one another, so our defaults apply only if the user sets none of them. */
    private static final List<String> DELIVERY_TIMEOUTS =
            List.of("delivery.timeout.ms", "request.timeout.ms", "linger.ms");

    /** Returns these settings with time-outs of Kafka clients at most as long, where the user has not set them. */
    CliSettings withTimeout(Duration timeout) {
        long millis = timeout.toMillis();
        Map<String, String> properties = new HashMap<>(kafka.byName());
        if (DELIVERY_TIMEOUTS.stream().noneMatch(properties::containsKey)) {
            // Half of the time-out, so that a request can be repeated once.
            properties.put("request.timeout.ms", Long.toString(Math.min(MAX_REQUEST_MILLIS, millis / 2)));
            properties.put("delivery.timeout.ms", Long.toString(millis));
        }
        properties.putIfAbsent("max.block.ms", Long.toString(millis));
        properties.putIfAbsent(API_TIMEOUT, Long.toString(Math.min(Long.parseLong(DEFAULT_API_TIMEOUT), millis)));
        return new CliSettings(
                bootstrapServer, schemaRegistry, resolver, search, token, new KafkaProperties(properties));
    }

    /** Returns the settings for a stack in this process. */
    static CliSettings of(EmbeddedStack stack) {
        return new CliSettings(
                stack.bootstrapServers(),
                URI.create(stack.schemaRegistry()),
                URI.create(stack.resolver()),
                URI.create(stack.search()),
                Optional.empty(),
                KafkaProperties.NONE);
    }

    /** Returns properties for Kafka clients and serdes. */
    Map<String, Object> clientProperties() {
        Map<String, Object> properties = new HashMap<>();
        properties.put("schema.registry.url", schemaRegistry.toString());
        properties.put("client.id", "puri-cli");
        properties.putAll(kafka.byName());
        properties.put("bootstrap.servers", bootstrapServer);
        return properties;
    }

    /** Returns properties for admin clients and consumers, with shorter time-outs because a user waits. */
    Map<String, Object> interactiveProperties() {
        Map<String, Object> properties = clientProperties();
        properties.putIfAbsent(API_TIMEOUT, DEFAULT_API_TIMEOUT);
        properties.putIfAbsent("request.timeout.ms", DEFAULT_API_TIMEOUT);
        return properties;
    }

    /**
     * Returns how long a call to the cluster may take: {@code default.api.timeout.ms}, or 15 s.
     *
     * @throws CommandException if that is not a number
     */
    Duration apiTimeout() {
        String value = kafka.byName().getOrDefault(API_TIMEOUT, DEFAULT_API_TIMEOUT);
        try {
            return Duration.ofMillis(Integer.parseUnsignedInt(value.strip()));
        } catch (NumberFormatException e) {
            throw CommandException.usage(API_TIMEOUT + ": a number of milliseconds is expected, not " + value);
        }
    }

    /** Returns a client of the declared collections. */
    CollectionRegistry collections() {
        return new CollectionRegistry(interactiveProperties(), apiTimeout());
    }
}

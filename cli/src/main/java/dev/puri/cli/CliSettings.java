package dev.puri.cli;

import dev.puri.cli.io.LogReader;
import dev.puri.cli.io.RateLimiter;
import dev.puri.client.CollectionRegistry;
import dev.puri.client.IdentityPublisher;
import dev.puri.schemas.collection.Declarations;
import dev.puri.settings.KafkaProperties;
import dev.puri.settings.Secret;
import dev.puri.settings.Setting;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The settings of commands that connect to servers. The default addresses are those of {@code puri up}. */
record CliSettings(
        @Setting(
                doc = "Kafka brokers to connect to first, HOST:PORT,….",
                byDefault = CliSettings.DEFAULT_BOOTSTRAP_SERVER)
        String bootstrapServer,

        @Setting(
                doc = "Base URL of the schema registry's Confluent API.",
                byDefault = CliSettings.DEFAULT_SCHEMA_REGISTRY)
        URI schemaRegistry,

        @Setting(doc = "Base URL of a resolver's internal listener.", byDefault = CliSettings.DEFAULT_RESOLVER)
        URI resolver,

        @Setting(doc = "Base URL of a search indexer's internal listener.", byDefault = CliSettings.DEFAULT_SEARCH)
        URI search,

        @Setting(doc = "Bearer token for servers that require one.")
        Optional<Secret> token,

        @Setting(doc = "Kafka client properties, passed on unchanged.")
        KafkaProperties kafka) {

    static final String DEFAULT_BOOTSTRAP_SERVER = "127.0.0.1:9092";
    static final String DEFAULT_SCHEMA_REGISTRY = "http://127.0.0.1:8081/apis/ccompat/v7";
    static final String DEFAULT_RESOLVER = "http://127.0.0.1:8080";
    static final String DEFAULT_SEARCH = "http://127.0.0.1:8083";

    private static final String API_TIMEOUT = "default.api.timeout.ms";
    private static final String DEFAULT_API_TIMEOUT_MILLIS = "15000";
    private static final long MAX_REQUEST_TIMEOUT_MILLIS = 10_000;

    /**
     * Producer properties that depend on one another. The command therefore sets them only if the user sets none of
     * them.
     */
    private static final List<String> DELIVERY_TIMEOUTS =
            List.of("delivery.timeout.ms", "request.timeout.ms", "linger.ms");

    /**
     * Returns a copy in which no time-out of a Kafka client is longer than the given one, unless the user has set it.
     */
    CliSettings withTimeout(Duration timeout) {
        long millis = timeout.toMillis();
        Map<String, String> properties = new HashMap<>(kafka.byName());
        if (DELIVERY_TIMEOUTS.stream().noneMatch(properties::containsKey)) {
            // At most half of the time-out, so that a request can be repeated once.
            properties.put("request.timeout.ms", Long.toString(Math.min(MAX_REQUEST_TIMEOUT_MILLIS, millis / 2)));
            properties.put("delivery.timeout.ms", Long.toString(millis));
        }
        properties.putIfAbsent("max.block.ms", Long.toString(millis));
        properties.putIfAbsent(
                API_TIMEOUT, Long.toString(Math.min(Long.parseLong(DEFAULT_API_TIMEOUT_MILLIS), millis)));
        return new CliSettings(
                bootstrapServer, schemaRegistry, resolver, search, token, new KafkaProperties(properties));
    }

    /** Returns settings with the addresses of the servers of a stack. */
    static CliSettings of(EmbeddedStack stack) {
        return new CliSettings(
                stack.bootstrapServers(),
                URI.create(stack.schemaRegistryUrl()),
                URI.create(stack.resolverUrl()),
                URI.create(stack.indexerUrl()),
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
        properties.putIfAbsent(API_TIMEOUT, DEFAULT_API_TIMEOUT_MILLIS);
        properties.putIfAbsent("request.timeout.ms", DEFAULT_API_TIMEOUT_MILLIS);
        return properties;
    }

    /**
     * Returns the time-out of a call to the cluster: {@code default.api.timeout.ms}, or 15 s.
     *
     * @throws CommandException if the property is negative or not a number
     */
    Duration apiTimeout() {
        String value = kafka.byName().getOrDefault(API_TIMEOUT, DEFAULT_API_TIMEOUT_MILLIS);
        int millis;
        try {
            millis = Integer.parseInt(value.strip());
        } catch (NumberFormatException e) {
            throw CommandException.usage(wrongTimeout(value), e);
        }
        if (millis < 0) {
            // The declarations' producer would report one of its own properties that are derived from this one.
            throw CommandException.usage(wrongTimeout(value));
        }
        return Duration.ofMillis(millis);
    }

    private static String wrongTimeout(String value) {
        return API_TIMEOUT + " must be a number of milliseconds, not " + value;
    }

    /** Returns a reader of the cluster's logs, which the caller closes. */
    LogReader logReader() {
        return LogReader.open(interactiveProperties(), apiTimeout(), new RateLimiter(null));
    }

    /** Returns a publisher of events, which the caller closes. */
    IdentityPublisher publisher(Declarations declarations) {
        return new IdentityPublisher(clientProperties(), declarations::ownsTopic);
    }

    /** Returns a client that reads and writes declarations of collections. */
    CollectionRegistry collections() {
        return new CollectionRegistry(interactiveProperties(), apiTimeout());
    }
}

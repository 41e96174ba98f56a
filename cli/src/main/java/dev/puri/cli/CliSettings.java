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
    private static final String REQUEST_TIMEOUT = "request.timeout.ms";
    private static final long DEFAULT_API_TIMEOUT_MILLIS = 15_000;
    private static final long MAX_REQUEST_TIMEOUT_MILLIS = 10_000;

    /**
     * Producer properties that depend on one another. The command therefore sets them only if the user sets none of
     * them.
     */
    private static final List<String> DELIVERY_TIMEOUTS = List.of("delivery.timeout.ms", REQUEST_TIMEOUT, "linger.ms");

    /**
     * Returns a copy in which no time-out of a Kafka client is longer than the given one, unless the user has set it.
     */
    CliSettings withTimeout(Duration timeout) {
        long millis = timeout.toMillis();
        Map<String, String> properties = new HashMap<>(kafka.byName());
        if (DELIVERY_TIMEOUTS.stream().noneMatch(properties::containsKey)) {
            // At most half of the time-out, so that a request can be repeated once.
            long requestMillis = Math.min(MAX_REQUEST_TIMEOUT_MILLIS, millis / 2);
            properties.put(
                    REQUEST_TIMEOUT, Long.toString(Math.min(requestMillis, millis(properties, API_TIMEOUT, millis))));
            properties.put("delivery.timeout.ms", Long.toString(millis));
        }
        properties.putIfAbsent("max.block.ms", Long.toString(millis));
        properties.putIfAbsent(
                API_TIMEOUT, Long.toString(apiMillis(properties, Math.min(DEFAULT_API_TIMEOUT_MILLIS, millis))));
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
        long apiMillis = apiTimeout().toMillis();
        properties.put(API_TIMEOUT, Long.toString(apiMillis));
        properties.putIfAbsent(REQUEST_TIMEOUT, Long.toString(Math.min(DEFAULT_API_TIMEOUT_MILLIS, apiMillis)));
        return properties;
    }

    /**
     * Returns the time-out of a call to the cluster: {@code default.api.timeout.ms}, or else the longer one of 15 s and
     * {@code request.timeout.ms}.
     *
     * @throws CommandException if a property is negative or not a number
     */
    Duration apiTimeout() {
        return Duration.ofMillis(apiMillis(kafka.byName(), DEFAULT_API_TIMEOUT_MILLIS));
    }

    /** Kafka refuses a {@code default.api.timeout.ms} below {@code request.timeout.ms}. */
    private static long apiMillis(Map<String, String> properties, long byDefault) {
        return millis(properties, API_TIMEOUT, Math.max(byDefault, millis(properties, REQUEST_TIMEOUT, 0)));
    }

    /**
     * Returns a time-out in ms. The declarations' producer would report a wrong one under the name of a property that
     * is derived from it.
     */
    private static long millis(Map<String, String> properties, String name, long byDefault) {
        String value = properties.get(name);
        if (value == null) {
            return byDefault;
        }
        int millis;
        try {
            millis = Integer.parseInt(value.strip());
        } catch (NumberFormatException e) {
            throw CommandException.usage(wrongTimeout(name, value), e);
        }
        CommandException.requireUsage(millis >= 0, wrongTimeout(name, value));
        return millis;
    }

    private static String wrongTimeout(String name, String value) {
        return name + " must be a number of milliseconds, not " + value;
    }

    /** Returns a reader of the cluster's logs, which the caller closes. */
    LogReader logReader() {
        return LogReader.open(interactiveProperties(), apiTimeout(), new RateLimiter(null));
    }

    /**
     * Returns a publisher of events, which the caller closes.
     *
     * @throws CommandException if a Kafka client property is wrong for a publisher
     */
    IdentityPublisher publisher(Declarations declarations) {
        try {
            return new IdentityPublisher(clientProperties(), declarations::ownsTopic);
        } catch (IllegalArgumentException e) {
            throw CommandException.usage(e.getMessage(), e);
        }
    }

    /** Returns a client that reads and writes declarations of collections. */
    CollectionRegistry collections() {
        return new CollectionRegistry(interactiveProperties(), apiTimeout());
    }
}

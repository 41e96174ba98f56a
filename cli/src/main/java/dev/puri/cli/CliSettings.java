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

/** Where the commands find the registry's parts; the defaults fit {@code puri up}. */
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
    private static final String USUAL_API_TIMEOUT = "15000";
    private static final long LONGEST_REQUEST = 10_000;

    /** They must fit to one another, so whoever sets one sets them all. */
    private static final List<String> TIMEOUTS_OF_DELIVERY =
            List.of("delivery.timeout.ms", "request.timeout.ms", "linger.ms");

    /** Clients give up no later than this, each where the settings of Kafka's clients do not say when. */
    CliSettings givingUpAfter(Duration patience) {
        long millis = patience.toMillis();
        Map<String, String> properties = new HashMap<>(kafka.byName());
        if (TIMEOUTS_OF_DELIVERY.stream().noneMatch(properties::containsKey)) {
            // Some of it must be left for a second try.
            properties.put("request.timeout.ms", Long.toString(Math.min(LONGEST_REQUEST, millis / 2)));
            properties.put("delivery.timeout.ms", Long.toString(millis));
        }
        properties.putIfAbsent("max.block.ms", Long.toString(millis));
        properties.putIfAbsent(API_TIMEOUT, Long.toString(Math.min(Long.parseLong(USUAL_API_TIMEOUT), millis)));
        return new CliSettings(
                bootstrapServer, schemaRegistry, resolver, search, token, new KafkaProperties(properties));
    }

    /** Those of a stack in this process. */
    static CliSettings of(EmbeddedStack stack) {
        return new CliSettings(
                stack.bootstrapServers(),
                URI.create(stack.schemaRegistry()),
                URI.create(stack.resolver()),
                URI.create(stack.search()),
                Optional.empty(),
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

    /** The same for an admin client or a consumer, which give up sooner than Kafka would; a person waits. */
    Map<String, Object> impatientProperties() {
        Map<String, Object> properties = clientProperties();
        properties.putIfAbsent(API_TIMEOUT, USUAL_API_TIMEOUT);
        properties.putIfAbsent("request.timeout.ms", USUAL_API_TIMEOUT);
        return properties;
    }

    /**
     * How long a call to the cluster may take: {@code default.api.timeout.ms}, or 15 s.
     *
     * @throws CommandException when that is no number
     */
    Duration reach() {
        String given = kafka.byName().getOrDefault(API_TIMEOUT, USUAL_API_TIMEOUT);
        try {
            return Duration.ofMillis(Integer.parseUnsignedInt(given.strip()));
        } catch (NumberFormatException e) {
            throw CommandException.usage(API_TIMEOUT + ": a number of milliseconds is expected, not " + given);
        }
    }

    /** What is declared of collections. */
    CollectionRegistry collections() {
        return new CollectionRegistry(impatientProperties(), reach());
    }
}

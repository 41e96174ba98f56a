package dev.puri.client.embedded;

import dev.puri.projection.PlainConsumers;
import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import dev.puri.schemas.serde.UserInfo;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.config.ConfigValue;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.streams.StreamsConfig;
import org.jspecify.annotations.Nullable;

/** Finds all mistakes in addresses and Kafka properties before the clients would fail on them one after the other. */
final class KafkaOptionsCheck {
    /** An address for clients that are created and closed without a request. */
    private static final String UNUSED_ADDRESS = "127.0.0.1:1";

    /** The syntax of a broker's address. Kafka allows and ignores a protocol. */
    private static final Pattern ADDRESS =
            Pattern.compile("(?:[0-9a-zA-Z\\-%._]*://)?\\[?[0-9a-zA-Z\\-%._:]+]?:([0-9]{1,5})");

    /** SASL mechanisms whose login sends a request to a server, which may not be running yet. */
    private static final Set<String> NETWORK_LOGIN_MECHANISMS = Set.of("GSSAPI", "OAUTHBEARER");

    private KafkaOptionsCheck() {}

    /** Returns the mistakes in a list of brokers. */
    static List<String> mistakesInBrokers(String bootstrapServers) {
        List<String> addresses = split(bootstrapServers);
        return addresses.isEmpty()
                ? List.of("bootstrapServers: none")
                : addresses.stream()
                        .filter(address -> !isAddress(address))
                        .map(address -> "bootstrapServers: " + UserInfo.masked(address) + " is not host:port")
                        .toList();
    }

    private static boolean isAddress(String text) {
        Matcher parts = ADDRESS.matcher(text);
        if (!parts.matches()) {
            return false;
        }
        int port = Integer.parseInt(parts.group(1));
        return port >= 1 && port <= 65_535;
    }

    /** Returns the mistakes in the schema registry's URLs and in the properties of its client. */
    static List<String> mistakesInSchemaRegistry(String urls, Map<String, String> kafka) {
        Set<String> mistakes = new LinkedHashSet<>();
        List<String> urlList = split(urls);
        if (urlList.isEmpty()) {
            mistakes.add("schemaRegistry: none");
        }
        urlList.stream()
                .filter(url -> !isHttp(url))
                .map(url -> "schemaRegistry: " + UserInfo.masked(url) + " is no URL such as http://host:8081")
                .forEach(mistakes::add);
        try {
            ConfluentSchemaRegistry.create(
                            registryConfig(mistakes.isEmpty() ? urls : "http://" + UNUSED_ADDRESS, kafka))
                    .close();
        } catch (ConfigException e) {
            // The message contains no credentials.
            mistakes.add("schema registry: " + e.getMessage());
        }
        return List.copyOf(mistakes);
    }

    /** Returns the configuration of the schema registry's client. */
    static Map<String, Object> registryConfig(String urls, Map<String, String> kafka) {
        Map<String, Object> config = new HashMap<>(kafka);
        config.put("schema.registry.url", urls);
        return config;
    }

    private static boolean isHttp(String url) {
        try {
            URI uri = new URI(url);
            return List.of("http", "https")
                            .contains(String.valueOf(uri.getScheme()).toLowerCase(Locale.ROOT))
                    && uri.getHost() != null
                    && uri.getRawQuery() == null
                    && uri.getRawFragment() == null;
        } catch (URISyntaxException e) {
            return false;
        }
    }

    private static List<String> split(String list) {
        return Arrays.stream(list.split(",", -1))
                .map(String::strip)
                .filter(element -> !element.isEmpty())
                .toList();
    }

    /** Returns the invalid values, by Kafka's own definitions of the properties of each client. */
    static List<String> mistakesInProperties(Map<String, String> kafka) {
        Set<String> mistakes = new LinkedHashSet<>();
        for (String key : List.of("bootstrap.servers", "schema.registry.url")) {
            if (kafka.containsKey(key)) {
                mistakes.add("kafka: " + key + " must not be set here, because it has an option of its own");
            }
        }
        addMistakes("", StreamsConfig.configDef(), kafka, mistakes);
        addMistakes("", AdminClientConfig.configDef(), kafka, mistakes);
        for (String prefix : List.of("", StreamsConfig.CONSUMER_PREFIX, StreamsConfig.GLOBAL_CONSUMER_PREFIX)) {
            addMistakes(prefix, ConsumerConfig.configDef(), kafka, mistakes);
        }
        addMistakes(StreamsConfig.ADMIN_CLIENT_PREFIX, AdminClientConfig.configDef(), kafka, mistakes);
        return List.copyOf(mistakes);
    }

    private static void addMistakes(
            String prefix, ConfigDef definition, Map<String, String> kafka, Set<String> mistakes) {
        Map<String, String> properties = new HashMap<>();
        kafka.forEach((key, value) -> {
            if (key.startsWith(prefix)) {
                properties.put(key.substring(prefix.length()), value);
            }
        });
        properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, UNUSED_ADDRESS);
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "checked");
        properties.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class.getName());
        properties.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class.getName());
        for (ConfigValue property : definition.validate(properties)) {
            for (String error : property.errorMessages()) {
                mistakes.add("kafka: " + prefix + property.name() + ": " + UserInfo.masked(error));
            }
        }
    }

    /**
     * Creates a client and closes it, because only the creation of a client reads trust stores and logs in. Does
     * nothing if the login would send a request to a server.
     *
     * @return why no client can be created from the properties; null if one can be created
     */
    static @Nullable String clientFailure(Map<String, String> kafka) {
        boolean isSasl = kafka.getOrDefault("security.protocol", "")
                .toUpperCase(Locale.ROOT)
                .startsWith("SASL_");
        if (isSasl && NETWORK_LOGIN_MECHANISMS.contains(kafka.getOrDefault("sasl.mechanism", "GSSAPI"))) {
            return null;
        }
        try {
            new PlainConsumers(kafka, UNUSED_ADDRESS).get().close(CloseOptions.timeout(Duration.ZERO));
            return null;
        } catch (KafkaException e) {
            Throwable cause = e;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            return "kafka: no client can be created from the properties: "
                    + UserInfo.masked(String.valueOf(cause.getMessage()));
        }
    }
}

package dev.puri.client.embedded;

import dev.puri.schemas.serde.ConfluentSchemaRegistry;
import dev.puri.schemas.serde.UserInfo;
import dev.puri.tail.PlainConsumers;
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

/** Finds mistakes in addresses and Kafka properties, which the clients would find one at a time in their threads. */
final class KafkaOptions {
    /** Address for clients that are made and closed without a request. */
    private static final String NOWHERE = "127.0.0.1:1";

    /** An address as Kafka parses it, which allows and ignores a protocol. */
    private static final Pattern ADDRESS =
            Pattern.compile("(?:[0-9a-zA-Z\\-%._]*://)?\\[?[0-9a-zA-Z\\-%._:]+]?:([0-9]{1,5})");

    /** SASL mechanisms whose login asks a server, which may not be running yet. */
    private static final Set<String> LOGINS_OVER_THE_NETWORK = Set.of("GSSAPI", "OAUTHBEARER");

    private KafkaOptions() {}

    /** Mistakes in a list of brokers. */
    static List<String> ofBrokers(String bootstrapServers) {
        List<String> addresses = split(bootstrapServers);
        return addresses.isEmpty()
                ? List.of("bootstrapServers: none")
                : addresses.stream()
                        .filter(each -> !isAddress(each))
                        .map(each -> "bootstrapServers: " + UserInfo.masked(each) + " is not host:port")
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

    /** Mistakes in the schema registry's URLs and in the properties of its client. */
    static List<String> ofSchemaRegistry(String urls, Map<String, String> kafka) {
        Set<String> mistakes = new LinkedHashSet<>();
        List<String> each = split(urls);
        if (each.isEmpty()) {
            mistakes.add("schemaRegistry: none");
        }
        each.stream()
                .filter(url -> !isHttp(url))
                .map(url -> "schemaRegistry: " + UserInfo.masked(url) + " is no URL such as http://host:8081")
                .forEach(mistakes::add);
        try {
            ConfluentSchemaRegistry.create(registryConfig(mistakes.isEmpty() ? urls : "http://" + NOWHERE, kafka))
                    .close();
        } catch (ConfigException e) {
            // The message contains no credentials.
            mistakes.add("schema registry: " + e.getMessage());
        }
        return List.copyOf(mistakes);
    }

    /** The configuration of the schema registry's client. */
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
                .filter(each -> !each.isEmpty())
                .toList();
    }

    /** Values that Kafka's own definitions refuse, for each client that the properties are given to. */
    static List<String> ofProperties(Map<String, String> kafka) {
        Set<String> mistakes = new LinkedHashSet<>();
        for (String own : List.of("bootstrap.servers", "schema.registry.url")) {
            if (kafka.containsKey(own)) {
                mistakes.add("kafka: " + own + " has an option of its own");
            }
        }
        add("", StreamsConfig.configDef(), kafka, mistakes);
        add("", AdminClientConfig.configDef(), kafka, mistakes);
        for (String prefix : List.of("", StreamsConfig.CONSUMER_PREFIX, StreamsConfig.GLOBAL_CONSUMER_PREFIX)) {
            add(prefix, ConsumerConfig.configDef(), kafka, mistakes);
        }
        add(StreamsConfig.ADMIN_CLIENT_PREFIX, AdminClientConfig.configDef(), kafka, mistakes);
        return List.copyOf(mistakes);
    }

    private static void add(String prefix, ConfigDef definition, Map<String, String> kafka, Set<String> mistakes) {
        Map<String, String> given = new HashMap<>();
        kafka.forEach((key, value) -> {
            if (key.startsWith(prefix)) {
                given.put(key.substring(prefix.length()), value);
            }
        });
        given.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, NOWHERE);
        given.put(StreamsConfig.APPLICATION_ID_CONFIG, "checked");
        given.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class.getName());
        given.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class.getName());
        for (ConfigValue each : definition.validate(given)) {
            for (String error : each.errorMessages()) {
                mistakes.add("kafka: " + prefix + each.name() + ": " + UserInfo.masked(error));
            }
        }
    }

    /**
     * Makes a client and closes it, because only that reads trust stores and logins. Skipped if the login asks a server.
     *
     * @return why no client can be made of the properties; null if one can
     */
    static @Nullable String failure(Map<String, String> kafka) {
        boolean isSasl = kafka.getOrDefault("security.protocol", "")
                .toUpperCase(Locale.ROOT)
                .startsWith("SASL_");
        if (isSasl && LOGINS_OVER_THE_NETWORK.contains(kafka.getOrDefault("sasl.mechanism", "GSSAPI"))) {
            return null;
        }
        try {
            new PlainConsumers(kafka, NOWHERE).get().close(CloseOptions.timeout(Duration.ZERO));
            return null;
        } catch (KafkaException e) {
            Throwable cause = e;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            return "kafka: the properties make no client: " + UserInfo.masked(String.valueOf(cause.getMessage()));
        }
    }
}

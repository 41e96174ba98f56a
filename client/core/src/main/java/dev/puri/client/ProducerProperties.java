package dev.puri.client;

import dev.puri.client.resolve.ResolverOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * Validates and completes the Kafka producer properties of an {@link IdentityPublisher}. The result has the caller's
 * properties, the fixed properties that the registry relies on, and defaults.
 *
 * <p>Kafka refuses a {@code delivery.timeout.ms} below {@code linger.ms} + {@code request.timeout.ms}. So the defaults
 * depend on the timeouts that the caller sets:
 *
 * <pre>
 * linger.ms            5 ms;  what request.timeout.ms leaves of delivery.timeout.ms if that is less,
 *                              half of it if request.timeout.ms is not set
 * request.timeout.ms  10 s;   the rest of delivery.timeout.ms if that is less
 * delivery.timeout.ms 30 s;   linger.ms + request.timeout.ms if that is more
 * max.block.ms        30 s;   delivery.timeout.ms if that is less
 * </pre>
 */
public final class ProducerProperties {
    private static final String EVENT_SERIALIZER = "dev.puri.schemas.log.EventSerializer";

    /**
     * Property of Confluent's serializer. Without it the serializer registers an extra schema version for our generated
     * classes.
     */
    static final String REMOVE_JAVA_PROPERTIES = "avro.remove.java.properties";

    /** Kafka's default for {@code delivery.timeout.ms}. */
    static final Duration KAFKA_DELIVERY_TIMEOUT = Duration.ofSeconds(120);

    /** Time limit for a response of the resolver, not counting the wait for an event, and for opening a connection. */
    private static final Duration RESOLVER_TIMEOUT = Duration.ofSeconds(10);

    /** Also matches the text of a Java list, which has brackets around the addresses. */
    private static final Pattern BOOTSTRAP_SERVERS = Pattern.compile("[^,]+:\\d{1,5}\\s*]?(,[^,]+:\\d{1,5}\\s*]?)*");

    private static final long DEFAULT_LINGER_MILLIS = 5;
    private static final long DEFAULT_REQUEST_MILLIS = 10_000;
    private static final long DEFAULT_DELIVERY_MILLIS = 30_000;
    private static final long DEFAULT_MAX_BLOCK_MILLIS = 30_000;

    /** Kafka's maximum of {@code max.in.flight.requests.per.connection} for an idempotent producer. */
    private static final long MAX_IN_FLIGHT = 5;

    private ProducerProperties() {}

    /**
     * Lists the mistakes in the properties of an {@link IdentityPublisher}. A mistake is a property that breaks a
     * guarantee that the registry relies on, a value that Kafka refuses, a contradiction between timeouts, or an
     * invalid URL of a resolver. Properties with unknown names are allowed, because they may be properties of the
     * serializer.
     *
     * @return a line for each mistake, {@code name=value: rule} or {@code name: rule}, without secrets; empty if there
     *     is none
     */
    public static List<String> mistakes(Map<?, ?> callerProperties) {
        Map<String, Object> properties = withTextNames(callerProperties);
        List<String> mistakes = new ArrayList<>();
        require(properties, ProducerConfig.ACKS_CONFIG, List.of("all", "-1"), mistakes);
        require(properties, ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, List.of("true"), mistakes);
        require(properties, ProducerConfig.PARTITIONER_IGNORE_KEYS_CONFIG, List.of("false"), mistakes);
        forbid(
                properties,
                ProducerConfig.PARTITIONER_CLASS_CONFIG,
                "the registry relies on Kafka's default partitioner",
                mistakes);
        forbid(properties, ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, "the key is the canonical pURI", mistakes);
        forbid(
                properties,
                ProducerConfig.TRANSACTIONAL_ID_CONFIG,
                "the publisher opens no transactions; event ids make retries harmless",
                mistakes);
        Object servers = properties.get(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG);
        if (servers == null) {
            mistakes.add(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG + ": is missing; it must be host:port of brokers");
        } else if (!BOOTSTRAP_SERVERS.matcher(String.valueOf(servers)).matches()) {
            mistakes.add(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG + "=" + servers
                    + ": must be host:port, separated by commas");
        }
        addInvalidValues(properties, mistakes);
        try {
            resolver(callerProperties);
        } catch (IllegalArgumentException e) {
            mistakes.add(IdentityPublisher.RESOLVER_URL + ": "
                    + String.valueOf(e.getMessage()).replaceAll("\\s*\\n\\s*", " "));
        }
        return mistakes;
    }

    /**
     * Returns the complete properties for a publisher's Kafka producer.
     *
     * @throws IllegalArgumentException if there are {@link #mistakes}; the message lists all
     */
    static Map<String, Object> of(Map<?, ?> callerProperties) {
        List<String> mistakes = mistakes(callerProperties);
        if (!mistakes.isEmpty()) {
            throw new IllegalArgumentException(
                    "invalid properties of a publisher:\n  " + String.join("\n  ", mistakes));
        }
        Map<String, Object> properties = withTextNames(callerProperties);
        properties.remove(IdentityPublisher.RESOLVER_URL);
        properties.remove(IdentityPublisher.RESOLVER_TOKEN);
        properties.put(ProducerConfig.ACKS_CONFIG, "all");
        properties.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "true");
        properties.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class.getName());
        properties.putIfAbsent(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, EVENT_SERIALIZER);
        properties.putIfAbsent(REMOVE_JAVA_PROPERTIES, "true");
        Timeouts timeouts = Timeouts.of(properties);
        properties.put(ProducerConfig.LINGER_MS_CONFIG, Long.toString(timeouts.lingerMillis()));
        properties.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, Long.toString(timeouts.requestMillis()));
        properties.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, Long.toString(timeouts.deliveryMillis()));
        properties.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, Long.toString(timeouts.maxBlockMillis()));
        // With several requests in flight, a partition whose leader just started may refuse the first request and
        // accept the second. The events of the first are then out of sequence in every retry, and expire (KAFKA-15591).
        properties.putIfAbsent(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, "1");
        return properties;
    }

    /** Returns whether the configured serializer accepts events. Another serializer gets the Avro form of an event. */
    static boolean takesEvents(Map<String, Object> properties) {
        return EVENT_SERIALIZER.equals(properties.get(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG));
    }

    /**
     * Returns the options of the publisher's resolver client; null if the properties name no resolver.
     *
     * @throws IllegalArgumentException if the resolver's URL or token is malformed
     */
    static @Nullable ResolverOptions resolver(Map<?, ?> callerProperties) {
        Object url = callerProperties.get(IdentityPublisher.RESOLVER_URL);
        Object token = callerProperties.get(IdentityPublisher.RESOLVER_TOKEN);
        return url == null
                ? null
                : ResolverOptions.at(String.valueOf(url))
                        .token(token == null ? null : String.valueOf(token))
                        .deadline(RESOLVER_TIMEOUT)
                        .connectTimeout(RESOLVER_TIMEOUT)
                        .build();
    }

    /** Copies the properties that have a value, and converts their names to text. */
    private static Map<String, Object> withTextNames(Map<?, ?> callerProperties) {
        Map<String, Object> properties = new HashMap<>();
        callerProperties.forEach((key, value) -> {
            if (value != null) {
                properties.put(String.valueOf(key), value);
            }
        });
        return properties;
    }

    /** Values of the timeout properties, in milliseconds, set by the caller or by default. */
    private record Timeouts(long lingerMillis, long requestMillis, long deliveryMillis, long maxBlockMillis) {
        /** Every property must have a value that Kafka accepts. */
        static Timeouts of(Map<String, Object> properties) {
            Long delivery = millis(properties, ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG);
            Long request = millis(properties, ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG);
            Long linger = millis(properties, ProducerConfig.LINGER_MS_CONFIG);
            Long maxBlock = millis(properties, ProducerConfig.MAX_BLOCK_MS_CONFIG);
            if (linger == null) {
                linger = delivery == null
                        ? DEFAULT_LINGER_MILLIS
                        : clamp(0, delivery - (request == null ? delivery / 2 : request), DEFAULT_LINGER_MILLIS);
            }
            if (request == null) {
                request =
                        delivery == null ? DEFAULT_REQUEST_MILLIS : clamp(0, delivery - linger, DEFAULT_REQUEST_MILLIS);
            }
            if (delivery == null) {
                delivery = Math.min(Integer.MAX_VALUE, Math.max(DEFAULT_DELIVERY_MILLIS, linger + request));
            }
            return new Timeouts(
                    linger,
                    request,
                    delivery,
                    maxBlock == null ? Math.min(DEFAULT_MAX_BLOCK_MILLIS, delivery) : maxBlock);
        }

        private static long clamp(long min, long value, long max) {
            return Math.max(min, Math.min(value, max));
        }

        private static @Nullable Long millis(Map<String, Object> properties, String key) {
            Object value = properties.get(key);
            return value == null ? null : Long.valueOf(String.valueOf(value).trim());
        }
    }

    private static void addInvalidValues(Map<String, Object> properties, List<String> mistakes) {
        int countBefore = mistakes.size();
        ProducerConfig.configDef().configKeys().forEach((name, key) -> {
            Object value = properties.get(name);
            if (value == null || mistakes.stream().anyMatch(mistake -> mistake.startsWith(name + "="))) {
                return;
            }
            try {
                Object parsed = ConfigDef.parseType(name, value, key.type);
                if (key.validator != null) {
                    key.validator.ensureValid(name, parsed);
                }
            } catch (ConfigException e) {
                boolean isSecret = key.type == ConfigDef.Type.PASSWORD;
                mistakes.add(name + "=" + (isSecret ? "***" : value) + ": " + rule(name, e));
            }
        });
        if (mistakes.size() == countBefore) {
            addContradictions(properties, mistakes);
        }
    }

    /** Returns Kafka's message without the beginning, which repeats name and value of the property. */
    private static String rule(String name, ConfigException error) {
        String message = String.valueOf(error.getMessage());
        int nameIndex = message.indexOf("configuration " + name + ": ");
        return nameIndex < 0 ? message : message.substring(nameIndex + name.length() + "configuration : ".length());
    }

    /** Adds mistakes in values that are valid on their own, but contradict another property or idempotence. */
    private static void addContradictions(Map<String, Object> properties, List<String> mistakes) {
        Timeouts timeouts = Timeouts.of(properties);
        long min = Math.min(Integer.MAX_VALUE, timeouts.lingerMillis() + timeouts.requestMillis());
        if (timeouts.deliveryMillis() < min) {
            mistakes.add(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG + "=" + timeouts.deliveryMillis()
                    + ": must be at least "
                    + ProducerConfig.LINGER_MS_CONFIG + " + " + ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG + ", which is "
                    + min);
        }
        Long retries = Timeouts.millis(properties, ProducerConfig.RETRIES_CONFIG);
        if (retries != null && retries == 0) {
            mistakes.add(ProducerConfig.RETRIES_CONFIG + "=0: must be above 0, or absent");
        }
        Long inFlight = Timeouts.millis(properties, ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION);
        if (inFlight != null && inFlight > MAX_IN_FLIGHT) {
            mistakes.add(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION + "=" + inFlight + ": must be "
                    + MAX_IN_FLIGHT + " at most");
        }
    }

    private static void require(
            Map<String, Object> properties, String key, List<String> allowed, List<String> mistakes) {
        Object value = properties.get(key);
        if (value != null && !allowed.contains(String.valueOf(value).trim())) {
            mistakes.add(key + "=" + value + ": must be " + allowed.get(0) + ", or absent");
        }
    }

    private static void forbid(Map<String, Object> properties, String key, String why, List<String> mistakes) {
        if (properties.containsKey(key)) {
            mistakes.add(key + "=" + properties.get(key) + ": must be absent; " + why);
        }
    }

    /** Returns the delivery timeout in properties that {@link #of} returned. */
    static Duration deliveryTimeout(Map<String, Object> properties) {
        Long millis = Timeouts.millis(properties, ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG);
        return millis == null ? KAFKA_DELIVERY_TIMEOUT : Duration.ofMillis(millis);
    }
}

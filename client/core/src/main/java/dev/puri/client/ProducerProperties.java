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
 * The producer properties of a publisher: those that the registry relies on, the caller's, and defaults.
 *
 * <p>Kafka refuses a {@code delivery.timeout.ms} below {@code linger.ms} + {@code request.timeout.ms}. A default gives way to what
 * the caller sets:
 *
 * <pre>
 * linger.ms            5 ms;  half of delivery.timeout.ms if that is less
 * request.timeout.ms  10 s;   the rest of delivery.timeout.ms if that is less
 * delivery.timeout.ms 30 s;   linger.ms + request.timeout.ms if that is more
 * max.block.ms        30 s;   delivery.timeout.ms if that is less
 * </pre>
 */
public final class ProducerProperties {
    private static final String EVENT_SERIALIZER = "dev.puri.schemas.log.EventSerializer";

    /** Confluent's key: without it its serializer registers a version of its own for our generated classes. */
    static final String REMOVE_JAVA_PROPERTIES = "avro.remove.java.properties";

    /** Kafka's default of {@code delivery.timeout.ms}. */
    static final Duration KAFKA_DELIVERY_TIMEOUT = Duration.ofSeconds(120);

    /** Time for an answer beyond the wait of a look-up, and for a connection. */
    private static final Duration RESOLVER_TIMEOUT = Duration.ofSeconds(10);

    /** Also matches the text of a Java list, which has brackets. */
    private static final Pattern HOSTS_AND_PORTS = Pattern.compile("[^,]+:\\d{1,5}\\s*]?(,[^,]+:\\d{1,5}\\s*]?)*");

    private static final long LINGER_MILLIS = 5;
    private static final long REQUEST_MILLIS = 10_000;
    private static final long DELIVERY_MILLIS = 30_000;
    private static final long MAX_BLOCK_MILLIS = 30_000;

    /** Kafka's limit for an idempotent producer. */
    private static final long MAX_IN_FLIGHT = 5;

    private ProducerProperties() {}

    /**
     * Lists the mistakes in properties of an {@link IdentityPublisher}: those that break a guarantee that the registry relies on,
     * values that Kafka does not take, timeouts that contradict one another, and an invalid URL of a resolver. Unknown
     * names pass, because they may be the serializer's.
     *
     * @return a line for each mistake, {@code name=value: rule}, without secrets; empty if a publisher takes the properties
     */
    public static List<String> mistakes(Map<?, ?> given) {
        Map<String, Object> properties = strings(given);
        List<String> mistakes = new ArrayList<>();
        require(properties, ProducerConfig.ACKS_CONFIG, List.of("all", "-1"), mistakes);
        require(properties, ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, List.of("true"), mistakes);
        require(properties, ProducerConfig.PARTITIONER_IGNORE_KEYS_CONFIG, List.of("false"), mistakes);
        forbid(
                properties,
                ProducerConfig.PARTITIONER_CLASS_CONFIG,
                "a pURI's partition is found by Kafka's default",
                mistakes);
        forbid(properties, ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, "the key is the canonical pURI", mistakes);
        forbid(
                properties,
                ProducerConfig.TRANSACTIONAL_ID_CONFIG,
                "the publisher opens no transactions; event ids make retries harmless",
                mistakes);
        Object servers = properties.get(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG);
        if (servers == null) {
            mistakes.add(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG + ": is missing; host:port of brokers");
        } else if (!HOSTS_AND_PORTS.matcher(String.valueOf(servers)).matches()) {
            mistakes.add(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG + "=" + servers
                    + ": must be host:port, with commas between");
        }
        refuseInvalidValues(properties, mistakes);
        try {
            resolver(given);
        } catch (IllegalArgumentException e) {
            mistakes.add(IdentityPublisher.RESOLVER_URL + ": "
                    + String.valueOf(e.getMessage()).replaceAll("\\s*\\n\\s*", " "));
        }
        return mistakes;
    }

    /**
     * Returns the properties with which a publisher opens its producer.
     *
     * @throws IllegalArgumentException if there are {@link #mistakes}, which are all listed
     */
    static Map<String, Object> of(Map<?, ?> given) {
        List<String> mistakes = mistakes(given);
        if (!mistakes.isEmpty()) {
            throw new IllegalArgumentException(
                    "properties that a publisher cannot take:\n  " + String.join("\n  ", mistakes));
        }
        Map<String, Object> properties = strings(given);
        properties.remove(IdentityPublisher.RESOLVER_URL);
        properties.remove(IdentityPublisher.RESOLVER_TOKEN);
        properties.put(ProducerConfig.ACKS_CONFIG, "all");
        properties.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "true");
        properties.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class.getName());
        properties.putIfAbsent(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, EVENT_SERIALIZER);
        properties.putIfAbsent(REMOVE_JAVA_PROPERTIES, "true");
        Timeouts timeouts = Timeouts.of(properties);
        properties.put(ProducerConfig.LINGER_MS_CONFIG, Long.toString(timeouts.linger()));
        properties.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, Long.toString(timeouts.request()));
        properties.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, Long.toString(timeouts.delivery()));
        properties.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, Long.toString(timeouts.maxBlock()));
        // With several, a partition whose leader is just coming up may refuse the first and take the second;
        // the first is then out of sequence for ever and expires (KAFKA-15591).
        properties.putIfAbsent(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, "1");
        return properties;
    }

    /** Whether the serializer of these properties takes events; a caller's own takes their Avro form. */
    static boolean takesEvents(Map<String, Object> properties) {
        return EVENT_SERIALIZER.equals(properties.get(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG));
    }

    /**
     * Returns the options of the publisher's resolver client; null if no resolver is set.
     *
     * @throws IllegalArgumentException if its URL or token has a wrong form
     */
    static @Nullable ResolverOptions resolver(Map<?, ?> given) {
        Object url = given.get(IdentityPublisher.RESOLVER_URL);
        Object token = given.get(IdentityPublisher.RESOLVER_TOKEN);
        return url == null
                ? null
                : ResolverOptions.at(String.valueOf(url))
                        .token(token == null ? null : String.valueOf(token))
                        .deadline(RESOLVER_TIMEOUT)
                        .connectTimeout(RESOLVER_TIMEOUT)
                        .build();
    }

    /** The properties with names as text, without those whose value is null. */
    private static Map<String, Object> strings(Map<?, ?> given) {
        Map<String, Object> properties = new HashMap<>();
        given.forEach((key, value) -> {
            if (value != null) {
                properties.put(String.valueOf(key), value);
            }
        });
        return properties;
    }

    /** Timeouts in milliseconds. */
    private record Timeouts(long linger, long request, long delivery, long maxBlock) {
        /** The timeouts of properties of which each has a value that Kafka takes. */
        static Timeouts of(Map<String, Object> properties) {
            Long delivery = millis(properties, ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG);
            Long request = millis(properties, ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG);
            Long linger = millis(properties, ProducerConfig.LINGER_MS_CONFIG);
            Long maxBlock = millis(properties, ProducerConfig.MAX_BLOCK_MS_CONFIG);
            if (linger == null) {
                linger = delivery == null
                        ? LINGER_MILLIS
                        : between(0, delivery - (request == null ? delivery / 2 : request), LINGER_MILLIS);
            }
            if (request == null) {
                request = delivery == null ? REQUEST_MILLIS : between(0, delivery - linger, REQUEST_MILLIS);
            }
            if (delivery == null) {
                delivery = Math.min(Integer.MAX_VALUE, Math.max(DELIVERY_MILLIS, linger + request));
            }
            return new Timeouts(
                    linger, request, delivery, maxBlock == null ? Math.min(MAX_BLOCK_MILLIS, delivery) : maxBlock);
        }

        private static long between(long least, long value, long most) {
            return Math.max(least, Math.min(value, most));
        }

        private static @Nullable Long millis(Map<String, Object> properties, String key) {
            Object value = properties.get(key);
            return value == null ? null : Long.valueOf(String.valueOf(value).trim());
        }
    }

    private static void refuseInvalidValues(Map<String, Object> properties, List<String> mistakes) {
        int before = mistakes.size();
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
        if (mistakes.size() == before) {
            refuseContradictions(properties, mistakes);
        }
    }

    /** Kafka's message without the name and the value. */
    private static String rule(String name, ConfigException error) {
        String message = String.valueOf(error.getMessage());
        int rule = message.indexOf("configuration " + name + ": ");
        return rule < 0 ? message : message.substring(rule + name.length() + "configuration : ".length());
    }

    /** Adds mistakes among values of which Kafka takes each alone. */
    private static void refuseContradictions(Map<String, Object> properties, List<String> mistakes) {
        Timeouts timeouts = Timeouts.of(properties);
        long least = Math.min(Integer.MAX_VALUE, timeouts.linger() + timeouts.request());
        if (timeouts.delivery() < least) {
            mistakes.add(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG + "=" + timeouts.delivery() + ": must be at least "
                    + ProducerConfig.LINGER_MS_CONFIG + " + " + ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG + ", which is "
                    + least);
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

    /** The delivery timeout of properties that {@link #of} returned. */
    static Duration deliveryTimeout(Map<String, Object> properties) {
        Long millis = Timeouts.millis(properties, ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG);
        return millis == null ? KAFKA_DELIVERY_TIMEOUT : Duration.ofMillis(millis);
    }
}

package dev.puri.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** The producer's properties of a publisher: what the registry relies on, the caller's, and our defaults. */
final class ProducerProperties {
    private static final String AVRO_SERIALIZER = "dev.puri.schemas.serde.AvroSerializer";

    /** Confluent's key: without it its serializer registers a version of its own for our generated classes. */
    static final String REMOVE_JAVA_PROPERTIES = "avro.remove.java.properties";

    /** Kafka's default of {@code delivery.timeout.ms}. */
    static final Duration KAFKA_DELIVERY_TIMEOUT = Duration.ofSeconds(120);

    /** A caller who sets one of these chooses how long to wait, and our defaults of the others might not fit. */
    private static final List<String> TIMEOUTS = List.of(
            ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
            ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG,
            ProducerConfig.LINGER_MS_CONFIG);

    private ProducerProperties() {}

    /**
     * Kafka's properties of a publisher's producer.
     *
     * @throws IllegalArgumentException when one would break what the registry relies on; all such are listed
     */
    static Map<String, Object> of(Map<?, ?> given) {
        Map<String, Object> properties = new HashMap<>();
        given.forEach((key, value) -> properties.put(String.valueOf(key), value));
        properties.remove(IdentityPublisher.RESOLVER_URL);
        properties.remove(IdentityPublisher.RESOLVER_TOKEN);

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
        if (!mistakes.isEmpty()) {
            throw new IllegalArgumentException(
                    "properties that a publisher cannot take:\n  " + String.join("\n  ", mistakes));
        }

        properties.put(ProducerConfig.ACKS_CONFIG, "all");
        properties.put(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "true");
        properties.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class.getName());
        properties.putIfAbsent(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, AVRO_SERIALIZER);
        properties.putIfAbsent(REMOVE_JAVA_PROPERTIES, "true");
        if (TIMEOUTS.stream().noneMatch(properties::containsKey)) {
            properties.put(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, "30000");
            properties.put(ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG, "10000");
        }
        properties.putIfAbsent(ProducerConfig.MAX_BLOCK_MS_CONFIG, "30000");
        // With several, a partition whose leader is just coming up may refuse the first and take the second;
        // the first is then out of sequence for ever and expires (KAFKA-15591).
        properties.putIfAbsent(ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION, "1");
        return properties;
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

    /** The delivery timeout in properties that Kafka has accepted. */
    static Duration deliveryTimeout(Map<String, Object> properties) {
        Object millis = properties.get(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG);
        return millis == null
                ? KAFKA_DELIVERY_TIMEOUT
                : Duration.ofMillis(Long.parseLong(String.valueOf(millis).trim()));
    }
}

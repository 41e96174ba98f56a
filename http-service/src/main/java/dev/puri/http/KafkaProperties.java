package dev.puri.http;

import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * What is passed on to the Kafka clients as it was given: each {@code PURI_KAFKA_SECURITY_PROTOCOL}
 * as {@code security.protocol}, each {@code kafka.security.protocol} of the settings file, and each
 * line of the {@code command.config} file.
 *
 * @param byName client properties by Kafka's own names; {@code bootstrap.servers} and {@code
 *     schema.registry.url} never are among them, for they have settings of their own
 */
public record KafkaProperties(Map<String, String> byName) {
    public static final KafkaProperties NONE = new KafkaProperties(Map.of());

    public KafkaProperties {
        byName = Map.copyOf(byName);
    }

    /** Whether a Kafka property of this name is one that no log may show. */
    static boolean isSecret(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        return lower.contains("password")
                || lower.contains("secret")
                || lower.contains("passphrase")
                || lower.endsWith("token")
                || lower.endsWith("sasl.jaas.config")
                || lower.endsWith("ssl.keystore.key")
                || lower.endsWith("user.info");
    }

    /** The properties sorted by name, secrets masked. */
    Map<String, String> shown() {
        Map<String, String> shown = new TreeMap<>(byName);
        shown.replaceAll((name, value) -> isSecret(name) ? Secret.MASK : value);
        return shown;
    }

    @Override
    public String toString() {
        return shown().toString();
    }
}

package dev.puri.settings;

import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Properties that Kafka clients receive unchecked. They come from {@code PURI_KAFKA_…} variables ({@code
 * PURI_KAFKA_SECURITY_PROTOCOL} sets {@code security.protocol}), from keys {@code kafka.…} of the settings file, and
 * from the {@code command.config} file.
 *
 * @param byName client properties by Kafka's names, without {@code bootstrap.servers} and {@code
 *     schema.registry.url}, which have settings of their own
 */
public record KafkaProperties(Map<String, String> byName) {
    public static final KafkaProperties NONE = new KafkaProperties(Map.of());

    public KafkaProperties {
        byName = Map.copyOf(byName);
    }

    /** Whether logs must mask the Kafka property of this name. */
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
    Map<String, String> masked() {
        Map<String, String> masked = new TreeMap<>(byName);
        masked.replaceAll((name, value) -> isSecret(name) ? Secret.MASK : value);
        return masked;
    }

    @Override
    public String toString() {
        return masked().toString();
    }
}

package dev.puri.settings;

import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * Properties that Kafka clients receive unchecked. They come from {@code PURI_KAFKA_…} variables ({@code
 * PURI_KAFKA_SECURITY_PROTOCOL} sets {@code security.protocol}), from keys {@code kafka.…} of the settings file, and
 * from the {@code command.config} file.
 *
 * @param byName client properties by Kafka's names; {@code bootstrap.servers} and {@code schema.registry.url} are not
 *     among them, because they are settings themselves
 */
public record KafkaProperties(Map<String, String> byName) {
    public static final KafkaProperties NONE = new KafkaProperties(Map.of());

    public KafkaProperties {
        byName = Map.copyOf(byName);
    }

    /** Whether logs must mask the value of a Kafka property. */
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

    /** Returns the properties sorted by name, with secrets masked. */
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

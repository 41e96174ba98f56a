package dev.puri.schemas.serde;

import java.util.Map;
import org.apache.kafka.common.config.ConfigException;

/** Confluent's configuration keys of serializers and deserializers, without the keys of the schema registry client. */
final class SerdeSettings {
    static final String AUTO_REGISTER = "auto.register.schemas";
    static final String USE_LATEST = "use.latest.version";
    static final String REMOVE_JAVA_PROPERTIES = "avro.remove.java.properties";
    static final String SPECIFIC = "specific.avro.reader";
    static final String LOGICAL_TYPES = "avro.use.logical.type.converters";
    private static final String TOPIC_NAME_STRATEGY = "io.confluent.kafka.serializers.subject.TopicNameStrategy";

    private SerdeSettings() {}

    static boolean flag(Map<String, ?> configs, String key, boolean defaultValue) {
        Object value = configs.get(key);
        String text = value == null
                ? Boolean.toString(defaultValue)
                : value.toString().trim();
        if (text.equalsIgnoreCase("true")) {
            return true;
        }
        if (text.equalsIgnoreCase("false")) {
            return false;
        }
        throw new ConfigException(key + " must be true or false, not " + text);
    }

    /**
     * Throws if another strategy than the topic-name strategy is configured, whose subjects are TOPIC-key and
     * TOPIC-value.
     */
    static void requireTopicNameStrategy(Map<String, ?> configs, boolean isKey) {
        String key = isKey ? "key.subject.name.strategy" : "value.subject.name.strategy";
        Object value = configs.get(key);
        String name = value instanceof Class<?> type ? type.getName() : value == null ? "" : value.toString();
        if (!name.isBlank() && !name.trim().equals(TOPIC_NAME_STRATEGY)) {
            throw new ConfigException(key + " must be absent or " + TOPIC_NAME_STRATEGY + ", not " + name);
        }
    }
}

package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ConfigEntry.ConfigSource;
import org.apache.kafka.clients.admin.ConfigEntry.ConfigType;
import org.junit.jupiter.api.Test;

class ConfigOverridesTest {
    private static List<String> differences(ConfigEntry... entries) {
        ClusterTopic topic = new ClusterTopic("t", new TreeMap<>(Map.of(0, 1)), new Config(List.of(entries)));
        return ConfigOverrides.differences(topic, Set.of("cleanup.policy"));
    }

    private static ConfigEntry entry(String name, String value, ConfigSource source) {
        return new ConfigEntry(name, value, source, false, false, List.of(), ConfigType.STRING, null);
    }

    @Test
    void reportsAnOverrideThatNobodyAllows() {
        assertThat(differences(entry("message.timestamp.after.max.ms", "1", ConfigSource.DYNAMIC_TOPIC_CONFIG)))
                .containsExactly("t has message.timestamp.after.max.ms=1, which puri topics create does not set; remove"
                        + " it: kafka-configs --bootstrap-server HOST:PORT --alter --topic t --delete-config"
                        + " message.timestamp.after.max.ms");
    }

    @Test
    void acceptsConfigsThatAreCreatedOrAllowedOrNotSetOnTheTopic() {
        assertThat(differences(
                        entry("cleanup.policy", "compact", ConfigSource.DYNAMIC_TOPIC_CONFIG),
                        entry("segment.bytes", "1000000", ConfigSource.DYNAMIC_TOPIC_CONFIG),
                        entry("local.retention.ms", "1", ConfigSource.STATIC_BROKER_CONFIG)))
                .isEmpty();
    }
}

package dev.puri.resolver.feed;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.streams.StreamsConfig;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class StreamsTableFeederTest {
    private static Map<String, Object> consumer(Map<String, String> kafka) {
        Properties config = StreamsTableFeeder.config(kafka, "localhost:9092", "state");
        return new StreamsConfig(config).getGlobalConsumerConfigs("c");
    }

    @ParameterizedTest
    @ValueSource(strings = {"max.poll.records", "consumer.max.poll.records", "global.consumer.max.poll.records"})
    void theUsersConfigurationOverridesOurs(String name) {
        assertThat(consumer(Map.of(name, "8000"))).containsEntry(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, "8000");
    }

    @ParameterizedTest
    @ValueSource(strings = {"isolation.level", "consumer.isolation.level", "global.consumer.isolation.level"})
    void requiredPropertiesOverrideTheUsers(String name) {
        assertThat(consumer(Map.of(name, "read_uncommitted")))
                .containsEntry(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed")
                .containsEntry(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, "500")
                .containsEntry(ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, "8388608");
    }
}

package dev.puri.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.puri.http.HttpSettings;
import dev.puri.settings.KafkaProperties;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StreamsPropertiesTest {
    private static final String FETCH = "max.partition.fetch.bytes";

    @TempDir
    private Path stateDir;

    private Properties properties(Map<String, String> kafka) {
        return StreamsProperties.of(new StreamsSettings(
                "127.0.0.1:9",
                "http://127.0.0.1:9",
                "puri-registry",
                stateDir,
                2,
                0,
                Duration.ofMillis(100),
                1,
                64,
                "127.0.0.1",
                0,
                HttpSettings.DEFAULT,
                new KafkaProperties(kafka)));
    }

    @Test
    void mainConsumerFetchesAtMost64KibPerPartition() {
        assertThat(properties(Map.of())).containsEntry("main.consumer." + FETCH, 64 * 1024);
    }

    @ParameterizedTest
    @ValueSource(strings = {FETCH, "consumer." + FETCH})
    void settingsOfAllConsumersApplyToTheMainConsumer(String name) {
        assertThat(properties(Map.of(name, "1000")))
                .containsEntry(name, "1000")
                .doesNotContainKey("main.consumer." + FETCH);
    }

    @Test
    void settingsOfTheMainConsumerApply() {
        assertThat(properties(Map.of("main.consumer." + FETCH, "1000")))
                .containsEntry("main.consumer." + FETCH, "1000");
    }
}

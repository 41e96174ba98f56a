package dev.puri.client.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The containers are those of docker-compose.yml. */
class RegistryContainersTest {
    private final String compose = read();

    private static String read() {
        try {
            return Files.readString(Path.of("../../docker-compose.yml"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void imagesHaveTheSameVersions() {
        for (String image : List.of(
                RegistryContainers.IMAGE, RegistryContainers.BROKER_IMAGE, RegistryContainers.SCHEMA_REGISTRY_IMAGE)) {
            assertThat(compose).contains("image: " + image + "\n");
        }
    }

    @Test
    void serversHaveTheSameSettings() {
        assertThat(compose)
                .contains("command: ["
                        + String.join(", ", RegistryContainers.CREATE_TOPICS_COMMAND)
                                .replace(", 1", ", \"1\""));
        for (Map<String, String> settings : List.of(
                RegistryContainers.BROKER_ENV,
                RegistryContainers.COMMON_ENV,
                RegistryContainers.STREAMS_ENV,
                RegistryContainers.INDEXER_ENV,
                RegistryContainers.RESOLVER_ENV)) {
            settings.forEach((name, value) -> assertThat(compose).contains(" " + name + ": " + value + "\n"));
        }
    }
}

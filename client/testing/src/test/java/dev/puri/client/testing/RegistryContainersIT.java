package dev.puri.client.testing;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * The registry in Docker keeps the contract that its fake keeps. Runs with {@code -Pdocker} alone, because its image is
 * in no image registry: {@code docker compose build} makes it. It fails where it is asked for and no engine answers.
 */
@Timeout(600)
@EnabledIfSystemProperty(named = "puri.broker", matches = "docker", disabledReason = "runs with -Pdocker")
class RegistryContainersIT extends RunningRegistryContract {
    private static RegistryContainers containers;

    @BeforeAll
    static void start() {
        containers = new RegistryContainers(RegistryContainers.IMAGE);
        containers.start();
        containers.declare("collections.yaml");
    }

    @AfterAll
    static void stop() {
        if (containers != null) {
            containers.stop();
        }
    }

    @Override
    Registry registry() {
        return containers;
    }
}

package dev.puri.client.testing;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;

/** The registry in Docker keeps the contract that its fake keeps. Needs the image: {@code docker compose build}. */
@Timeout(600)
class RegistryContainersIT extends RunningRegistryContract {
    private static RegistryContainers containers;

    @BeforeAll
    static void start() {
        boolean answers = RegistryContainers.isDockerThere();
        if (!answers) {
            System.err.println("RegistryContainersIT is skipped: no Docker engine answers");
        }
        assumeTrue(answers, "no Docker engine answers");
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

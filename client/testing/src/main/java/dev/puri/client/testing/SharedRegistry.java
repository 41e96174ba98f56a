package dev.puri.client.testing;

import java.net.URL;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Starts the pURI registry that all tests of this JVM share: a broker, a schema registry and the pURI servers. They run
 * in a separate process or in Docker, see {@link StackForm}.
 *
 * <p>The registry runs until the JVM ends, and not only until the end of a JUnit run, because Spring keeps its
 * contexts, with their publishers and feeds, until the JVM ends.
 */
final class SharedRegistry {
    private static final String IMAGE_VARIABLE = "PURI_TEST_IMAGE";

    private static @Nullable Registry registry;

    /** The failure of an earlier start, which later tests get at once. Null if none failed; interrupts do not count. */
    private static @Nullable RegistryStartException failure;

    private SharedRegistry() {}

    static synchronized Registry get() {
        if (failure != null) {
            throw new RegistryStartException(Objects.requireNonNull(failure.getMessage()), failure);
        }
        Registry running = registry;
        if (running == null) {
            try {
                running = start();
            } catch (RegistryStartException e) {
                // If only the caller was interrupted, a later start may succeed.
                failure = e.getCause() instanceof InterruptedException ? null : e;
                throw e;
            }
            registry = running;
        }
        return running;
    }

    private static Registry start() {
        URL description = StackFiles.findDescription();
        long startedNanos = System.nanoTime();
        StackForm form =
                StackForm.choose(System.getenv(StackForm.VARIABLE), description != null, SharedRegistry::hasDocker);
        Registry started =
                form == StackForm.EMBEDDED ? startProcess(Objects.requireNonNull(description)) : startContainers();
        System.err.println(String.format(
                Locale.ROOT,
                "puri: tests use the registry of %s, %s, ready after %.1f s",
                form == StackForm.EMBEDDED ? "client-testing-stack" : "Docker",
                started,
                (System.nanoTime() - startedNanos) / 1e9));
        return started;
    }

    /**
     * Starts the process, which ends by itself after this JVM has ended. A shutdown hook would be too early: Spring's
     * hook closes publishers at the same time, and they still need the broker.
     */
    private static Registry startProcess(URL description) {
        Path userHome = Path.of(System.getProperty("user.home"));
        StackFiles files = StackFiles.of(description, StackFiles.cache(System.getenv(), userHome));
        return StackProcess.start(
                files, JavaHomes.commandOf(files.minJavaVersion(), JavaHomes.candidates(System.getenv(), userHome)));
    }

    /** Starts containers. Testcontainers removes them after this JVM has ended. */
    private static Registry startContainers() {
        String image = System.getenv().getOrDefault(IMAGE_VARIABLE, RegistryContainers.IMAGE);
        RegistryContainers containers = new RegistryContainers(image);
        try {
            containers.start();
        } catch (RuntimeException e) {
            containers.stop();
            throw new RegistryStartException(
                    "the registry for tests could not be started in Docker with the image " + image
                            + ". Build the image with docker build in the registry's repository, or set "
                            + IMAGE_VARIABLE
                            + " to another image. " + e,
                    e);
        }
        return containers;
    }

    private static boolean hasDocker() {
        try {
            Class.forName("org.testcontainers.kafka.KafkaContainer", false, SharedRegistry.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            return false;
        }
        return RegistryContainers.isDockerAvailable();
    }
}

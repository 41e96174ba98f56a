package dev.puri.client.testing;

import java.net.URL;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The registry that all tests of this JVM share.
 *
 * <p>It lives until the JVM ends and not until the end of a JUnit run, because Spring keeps contexts, with their publishers and feeds, until
 * the JVM ends.
 */
final class SharedRegistry {
    private static final String IMAGE_VARIABLE = "PURI_TEST_IMAGE";

    private static @Nullable Registry registry;

    /** Why the first start failed; later tests fail at once with the same reason. Null if no start failed. */
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
                // An interrupt comes from the caller, so a later start may succeed.
                failure = e.getCause() instanceof InterruptedException ? null : e;
                throw e;
            }
            registry = running;
        }
        return running;
    }

    private static Registry start() {
        URL stack = StackFiles.onClassPath();
        long from = System.nanoTime();
        StackForm form = StackForm.choose(System.getenv(StackForm.VARIABLE), stack != null, SharedRegistry::hasDocker);
        Registry started = form == StackForm.EMBEDDED ? process(Objects.requireNonNull(stack)) : containers();
        System.err.println(String.format(
                Locale.ROOT,
                "puri: tests use the registry of %s, %s, ready after %.1f s",
                form == StackForm.EMBEDDED ? "client-testing-stack" : "Docker",
                started,
                (System.nanoTime() - from) / 1e9));
        return started;
    }

    /**
     * Starts the process, which ends by itself after this JVM. A shutdown hook would end it at the same time as Spring's hook closes
     * publishers, which still need the broker.
     */
    private static Registry process(URL stack) {
        Path user = Path.of(System.getProperty("user.home"));
        StackFiles files = StackFiles.of(stack, StackFiles.cache(System.getenv(), user));
        return StackProcess.start(files, JavaHomes.commandOf(files.java(), JavaHomes.usual(System.getenv(), user)));
    }

    /** Starts containers, which Testcontainers removes when this JVM has ended. */
    private static Registry containers() {
        String image = System.getenv().getOrDefault(IMAGE_VARIABLE, RegistryContainers.IMAGE);
        RegistryContainers containers = new RegistryContainers(image);
        try {
            containers.start();
        } catch (RuntimeException e) {
            containers.stop();
            throw new RegistryStartException(
                    "the registry for tests does not start in Docker. Its image is " + image
                            + ", which docker build makes in the" + " registry's repository; " + IMAGE_VARIABLE
                            + " may name another. " + e,
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
        return RegistryContainers.isDockerThere();
    }
}

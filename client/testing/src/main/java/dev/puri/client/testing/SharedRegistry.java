package dev.puri.client.testing;

import java.net.URL;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The one registry of this JVM.
 *
 * <p>It lives as long as the JVM and not as one run of JUnit: Spring keeps contexts, with their publishers and feeds, until the JVM ends.
 */
final class SharedRegistry {
    private static final String IMAGE_VARIABLE = "PURI_TEST_IMAGE";

    private static @Nullable Registry registry;

    /** Why the first start failed; later tests fail at once and for the same reason. Null when none failed. */
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
                // An interrupt is of the caller and says nothing about later starts.
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
     * Starts the process, which ends by itself after this JVM. A shutdown hook that ended it would run beside those of the tests: Spring's
     * closes publishers, which need the broker.
     */
    private static Registry process(URL stack) {
        Path user = Path.of(System.getProperty("user.home"));
        StackFiles files = StackFiles.of(stack, StackFiles.cache(System.getenv(), user));
        return StackProcess.start(files, JavaHomes.commandOf(files.java(), JavaHomes.usual(System.getenv(), user)));
    }

    /** Testcontainers removes them when this JVM has ended. */
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

package com.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.puri.client.testing.Registry;
import dev.puri.client.testing.RegistryTest;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Runs the service in a separate process, on the class path that it has in production. */
@RegistryTest(collections = "collections.yaml")
class MainTest {
    private static final Path TARGET = Path.of("target").toAbsolutePath();

    @Test
    void publishesAndResolves(Registry registry) throws Exception {
        Path out = TARGET.resolve("main.out");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        TARGET.resolve("classes") + File.pathSeparator + TARGET.resolve("lib") + File.separator + "*",
                        "com.example.Main",
                        registry.bootstrapServers(),
                        registry.schemaRegistryUrl(),
                        registry.resolverUrl())
                .redirectErrorStream(true)
                .redirectOutput(out.toFile())
                .start();
        try {
            assertTrue(process.waitFor(2, TimeUnit.MINUTES));
        } finally {
            process.destroyForcibly();
        }
        String printed = Files.readString(out);
        assertEquals(0, process.exitValue(), printed);
        assertTrue(printed.contains("resolved Found["), printed);
        assertTrue(printed.contains("br-1"), printed);
        assertTrue(printed.contains("stored 42 for soundcloud:users:42"), printed);
    }
}

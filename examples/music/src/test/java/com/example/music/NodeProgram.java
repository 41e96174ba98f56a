package com.example.music;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** The service in {@code node}, with its packages. */
final class NodeProgram {
    private static final Path SOURCES = Path.of("node");

    private final Path folder;

    /**
     * Installs the packages. Where they cannot be had the test is skipped; on the build server it fails.
     *
     * @param folder for a copy of the program, and for the packages
     */
    NodeProgram(Path folder) throws Exception {
        this.folder = Files.createDirectories(folder);
        for (String file : List.of("package.json", "reviews.mjs")) {
            Files.copy(SOURCES.resolve(file), folder.resolve(file));
        }
        try {
            output(Map.of(), "npm", "install", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund");
        } catch (IOException | AssertionError e) {
            if (Boolean.parseBoolean(System.getenv("CI"))) {
                throw e;
            }
            Assumptions.abort("npm does not install the packages: " + e.getMessage());
        }
    }

    /** What a run of it prints. */
    List<String> run(Map<String, String> environment, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("node", "reviews.mjs"));
        command.addAll(List.of(arguments));
        return output(environment, command.toArray(String[]::new));
    }

    private List<String> output(Map<String, String> environment, String... command) throws Exception {
        Path out = folder.resolve("out");
        Path errors = folder.resolve("errors");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectOutput(out.toFile())
                .redirectError(errors.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        if (!process.waitFor(120, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            fail(command[0] + " does not end");
        }
        assertThat(process.exitValue()).as(Files.readString(errors)).isZero();
        return Files.readAllLines(out);
    }
}

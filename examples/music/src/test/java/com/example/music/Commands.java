package com.example.music;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/**
 * Runs commands of other languages.
 *
 * @param folder in which they run
 * @param outputs folder for their output files
 */
record Commands(Path folder, Path outputs) {
    /** Runs a command, which must succeed, and returns the lines of its standard output. */
    List<String> run(Map<String, String> environment, String... command) throws Exception {
        Path out = outputs.resolve("out");
        Path errors = outputs.resolve("errors");
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

    /**
     * Runs a command on which the test depends. If it fails, the test is skipped, and says why; on the build server it
     * fails.
     *
     * @param otherwise the meaning of the failure for a developer
     */
    void require(String otherwise, Map<String, String> environment, String... command) throws Exception {
        try {
            run(environment, command);
        } catch (IOException | AssertionError e) {
            String message = otherwise + ": " + e.getMessage();
            if (Boolean.parseBoolean(System.getenv("CI"))) {
                throw new AssertionError(message, e);
            }
            Assumptions.abort(message);
        }
    }
}

package com.example.music;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Runs {@code examples/music/run}, and compares its answers with those in docs/tutorial.md. */
class RunIT {
    private static final JsonMapper JSON = JsonMapper.shared();

    @TempDir
    private Path folder;

    /** The puri command of this tree without its launcher, which would build. */
    private Path puri() throws Exception {
        String command = RegistryProcess.command().stream()
                .map(word -> '\'' + word + '\'')
                .collect(Collectors.joining(" "));
        Path file = Files.writeString(folder.resolve("puri"), "#!/bin/sh\nexec " + command + " \"$@\"\n");
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
    }

    private static int freePort() throws Exception {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    @Test
    void theWalkThroughOfTheTutorialWorks() throws Exception {
        Path answers = folder.resolve("answers");
        Path progress = folder.resolve("progress");
        ProcessBuilder builder = new ProcessBuilder(
                        "./run", "--no-build", "--exit", "--port", String.valueOf(freePort()))
                .redirectOutput(answers.toFile())
                .redirectError(progress.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("PURI_"));
        builder.environment().putAll(Map.of("PURI", puri().toString(), "JAVA_HOME", System.getProperty("java.home")));
        Process run = builder.start();
        try {
            assertThat(run.waitFor(6, TimeUnit.MINUTES))
                    .as(Files.readString(progress))
                    .isTrue();
            assertThat(run.exitValue()).as(Files.readString(progress)).isZero();
        } finally {
            run.destroy();
        }
        Map<String, String> real = Tutorial.answers(Tutorial.normalized(Files.readString(answers)));
        Map<String, String> documented =
                Tutorial.answers(Tutorial.normalized(String.join("\n", Tutorial.blocks("console"))));
        assertThat(documented).hasSizeGreaterThan(5);
        documented.forEach((request, answer) -> {
            assertThat(real).containsKey(request);
            assertThat(read(real.get(request))).as(request).isEqualTo(read(answer));
        });
    }

    /** Parses an answer. Sorts results of a search, because results of equal score come in no fixed order. */
    private static JsonNode read(String answer) {
        JsonNode node = JSON.readTree(answer);
        if (node instanceof ObjectNode page && page.has("results")) {
            List<JsonNode> results = new ArrayList<>();
            page.path("results").forEach(results::add);
            results.sort(Comparator.comparing(JsonNode::toString));
            page.putArray("results").addAll(results);
        }
        return node;
    }
}

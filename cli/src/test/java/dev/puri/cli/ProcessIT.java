package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessIT {
    private static final String CREATED =
            "{\"type\":\"created\",\"puri\":\"kept:a:1\",\"owner\":\"catalog\",\"shard\":\"br-1\"}";

    @TempDir
    private Path folder;

    @Test
    void demoEndsWithStatus0IfAllResponsesAreAsExpected() throws Exception {
        Path errors = folder.resolve("errors");
        try (PuriProcess demo = PuriProcess.atFreePorts(errors, "demo", "--exit")) {
            List<String> lines = demo.readLines();
            int status = demo.awaitExit();
            assertThat(status).as(Files.readString(errors)).isZero();
            assertThat(Files.readString(errors)).doesNotContain("ERROR").doesNotContain("WARN");
            assertThat(lines)
                    .contains("370 events of 4 collections from 3 shards: 365 applied, 1 unchanged, 4 refused.")
                    .anyMatch(line -> line.matches(
                            "\\$ curl -s 'http://127\\.0\\.0\\.1:\\d+/v1/identities/SoundCloud:Tracks:123'"))
                    .contains("  \"shards\": {\"br-1\": [0, 1, 3], \"eu-1\": [2], \"us-1\": [4]}")
                    .anyMatch(line -> line.matches(
                            "\\$ curl -s 'http://127\\.0\\.0\\.1:\\d+/v1/search\\?q=ana\\+souza&groupBy=shard'"))
                    .anyMatch(line -> line.contains("\"title\": [\"Noite de <em>São</em> <em>João</em>\"]"))
                    .anyMatch(line -> line.startsWith("$ ./puri rejections list --bootstrap-server 127.0.0.1:"))
                    .anyMatch(line -> line.contains("PURI_TAKEN") && line.contains("catalog in br-1"))
                    .anyMatch(line -> line.contains("HANDLE_TAKEN"));
        }
    }

    @Test
    void upPrintsOneLineStopsItsChildrenAndKeepsItsData() throws Exception {
        try (PuriProcess first = up()) {
            Map<String, String> environment = first.environment(folder.resolve("errors"));
            assertThat(CommandLineRun.reading(environment, CREATED, "publish", "-f", "-", "--wait")
                            .status())
                    .isZero();
            List<ProcessHandle> children = first.children();
            assertThat(children).as("the schema registry").hasSize(1);
            first.terminate();
            int status = first.awaitExit();
            assertThat(status).as("ended by SIGTERM").isEqualTo(128 + 15);
            await().atMost(Duration.ofSeconds(20)).until(() -> children.stream().noneMatch(ProcessHandle::isAlive));
        }
        assertThatNothingButResultsIsOnStdout();
        try (PuriProcess second = up()) {
            Map<String, String> environment = second.environment(folder.resolve("errors"));
            CommandLineRun resolved = CommandLineRun.of(environment, "-o", "json", "resolve", "kept:a:1");
            assertThat(resolved.status()).as(resolved.out() + resolved.err()).isZero();
            assertThat(Json.parse(resolved.out()).at("/results/0/shard").asText())
                    .isEqualTo("br-1");
            CommandLineRun published = CommandLineRun.reading(
                    environment, CREATED.replace("br-1", "eu-1"), "-o", "json", "publish", "-f", "-", "--wait");
            assertThat(published.out()).contains("\"refused\":1");
        }
    }

    /** Returns the output of a command that logs, because its broker is unreachable. */
    private void assertThatNothingButResultsIsOnStdout() throws Exception {
        Path errors = folder.resolve("errors-of-publish");
        Path events = Files.writeString(folder.resolve("events"), CREATED);
        try (PuriProcess publish = new PuriProcess(
                errors,
                "publish",
                "-f",
                events.toString(),
                "--bootstrap-server",
                "127.0.0.1:9",
                "--schema-registry",
                "http://127.0.0.1:9")) {
            assertThat(publish.readLines()).as(Files.readString(errors)).isEmpty();
            assertThat(publish.awaitExit()).isNotZero();
        }
    }

    private PuriProcess up() throws Exception {
        return PuriProcess.up(folder.resolve("data"), folder.resolve("errors"));
    }
}

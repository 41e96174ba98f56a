package dev.puri.client.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** docs/testing.md shows tests that run. */
class DocumentationTest {
    @ParameterizedTest
    @ValueSource(strings = {"TracksIT", "TracksOutboxIT", "TracksSpringIT", "MoverTest"})
    void theExampleIsATestThatRuns(String example) throws Exception {
        String code = Files.readString(Path.of("src/test/java/com/example/music", example + ".java"));
        assertThat(Files.readString(Path.of("../../docs/testing.md"))).contains("```java\n" + code + "```");
    }

    @Test
    void theOutboxOfJavaClientIsInATestThatRuns() throws Exception {
        String page = Files.readString(Path.of("../../docs/java-client.md"));
        String section = page.substring(page.indexOf("## The outbox"), page.indexOf("## Resolving"));
        String code = section.substring(section.indexOf("```java") + "```java".length(), section.lastIndexOf("```"));
        assertThat(lines(Files.readString(Path.of("src/test/java/com/example/music/TracksOutboxIT.java"))))
                .containsSubsequence(lines(code));
    }

    private static List<String> lines(String text) {
        return text.lines().map(String::strip).filter(line -> !line.isEmpty()).toList();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "PURI_TEST_STACK",
                "PURI_TEST_CACHE",
                "PURI_TEST_IMAGE",
                "client-testing-stack",
                "testcontainers-kafka"
            })
    void documentationExplainsTheVariablesInMessages(String name) throws Exception {
        assertThat(Files.readString(Path.of("../../docs/testing.md"))).contains(name);
    }
}

package dev.puri.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class OfflineMavenTest {
    @Test
    void optionsFromTheEnvironmentAreRemoved() {
        Map<String, String> environment = new HashMap<>(Map.of(
                "MAVEN_ARGS", "-U -Pnightly",
                "MAVEN_OPTS", "-Xmx64m",
                "MAVEN_DEBUG_OPTS", "-Xdebug",
                "MAVEN_BASEDIR", "/elsewhere",
                "JAVA_TOOL_OPTIONS", "-javaagent:other.jar",
                "PATH", "/usr/bin",
                "HOME", "/home/user"));
        OfflineMaven.isolate(environment);
        assertThat(environment)
                .containsOnly(
                        Map.entry("PATH", "/usr/bin"),
                        Map.entry("HOME", "/home/user"),
                        Map.entry("MAVEN_SKIP_RC", "true"));
    }
}

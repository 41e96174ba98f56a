package dev.puri.resolver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.puri.http.Settings;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A resolver in a process of its own, set by its environment, that can be killed. */
final class ResolverProcess {
    private static final String LOGGING = """
            <configuration>
              <appender name="STDOUT" class="ch.qos.logback.core.ConsoleAppender">
                <encoder><pattern>%d{HH:mm:ss.SSS} %-5level %logger{0} %msg%n</pattern></encoder>
              </appender>
              <root level="WARN"><appender-ref ref="STDOUT"/></root>
              <logger name="org.apache.kafka" level="ERROR"/>
              <logger name="dev.puri.resolver" level="INFO"/>
            </configuration>
            """;

    private final Process process;
    private final List<String> output = new CopyOnWriteArrayList<>();
    private final Thread reading;

    private ResolverProcess(Process process) {
        this.process = process;
        this.reading = Thread.ofPlatform().daemon().start(this::read);
    }

    /**
     * @param settings by their environment variables
     * @param folder for what the process needs beside
     */
    static ResolverProcess start(Map<String, String> settings, Path folder) throws IOException {
        Path logging = Files.writeString(folder.resolve("logback.xml"), LOGGING);
        ProcessBuilder builder = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "--sun-misc-unsafe-memory-access=allow",
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx512m",
                        "-Dlogback.configurationFile=" + logging,
                        "-cp",
                        System.getProperty("java.class.path"),
                        Child.class.getName())
                .redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("PURI_"));
        builder.environment().putAll(settings);
        return new ResolverProcess(builder.start());
    }

    private void read() {
        try (BufferedReader lines = process.inputReader()) {
            lines.lines().forEach(output::add);
        } catch (IOException | UncheckedIOException e) {
            output.add("its output broke off: " + e);
        }
    }

    String output() {
        return String.join("\n", output);
    }

    /** What a pattern found in the lines up to now, each line once. */
    List<MatchResult> said(Pattern pattern) {
        return output.stream()
                .map(pattern::matcher)
                .filter(Matcher::find)
                .map(Matcher::toMatchResult)
                .toList();
    }

    /** The first of what a pattern finds, waited for. */
    MatchResult awaitSaid(Pattern pattern) {
        return awaitSaid(pattern, 1).getFirst();
    }

    List<MatchResult> awaitSaid(Pattern pattern, int times) {
        await().atMost(Duration.ofSeconds(60))
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> {
                    assertThat(process.isAlive()).as(output()).isTrue();
                    return said(pattern).size() >= times;
                });
        return said(pattern);
    }

    /** Lets it run for so long, in which it must not end. */
    void runFor(Duration time) throws InterruptedException {
        assertThat(process.waitFor(time.toNanos(), TimeUnit.NANOSECONDS))
                .as(output())
                .isFalse();
    }

    /** As {@code kill -9}; returns when it is gone and all that it said is there. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
        reading.join();
    }

    /** The process. */
    static final class Child {
        private Child() {}

        public static void main(String[] args) throws IOException {
            Resolver.start(Settings.read(ResolverSettings.class, Map.of(), System.getenv(), null));
            // It must not outlive whoever started it, whose end of the pipe then closes.
            System.in.transferTo(OutputStream.nullOutputStream());
            Runtime.getRuntime().halt(1);
        }
    }
}

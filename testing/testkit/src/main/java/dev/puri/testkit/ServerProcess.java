package dev.puri.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

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

/** A server in a child process, which tests configure by environment variables and can kill. */
public final class ServerProcess {
    private static final String LOGBACK_XML = """
            <configuration>
              <appender name="STDOUT" class="ch.qos.logback.core.ConsoleAppender">
                <encoder><pattern>%d{HH:mm:ss.SSS} %-5level %logger{0} %msg%n</pattern></encoder>
              </appender>
              <root level="WARN"><appender-ref ref="STDOUT"/></root>
              <logger name="org.apache.kafka" level="ERROR"/>
              <logger name="dev.puri" level="INFO"/>
            </configuration>
            """;

    private final Process process;
    private final List<String> outputLines = new CopyOnWriteArrayList<>();
    private final Thread outputReader = new Thread(this::readOutput, "server-output");

    private ServerProcess(Process process) {
        this.process = process;
        outputReader.setDaemon(true);
        outputReader.start();
    }

    /**
     * Starts a child process with the class path of the test.
     *
     * @param main the main class, which starts the server and then calls {@link #endWithParent}
     * @param settings the settings of the server as environment variables
     * @param folder the folder to which the child's logging configuration is written
     */
    public static ServerProcess start(Class<?> main, Map<String, String> settings, Path folder) throws IOException {
        Path logbackFile = Files.writeString(folder.resolve("logback.xml"), LOGBACK_XML);
        ProcessBuilder builder = new ProcessBuilder(
                        ProcessHandle.current().info().command().orElseThrow(),
                        "--sun-misc-unsafe-memory-access=allow",
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx512m",
                        "-Dlogback.configurationFile=" + logbackFile,
                        "-cp",
                        System.getProperty("java.class.path"),
                        main.getName())
                .redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("PURI_"));
        builder.environment().putAll(settings);
        return new ServerProcess(builder.start());
    }

    /**
     * Waits until the parent process ends, and then halts this process. The child calls it. The parent has ended when
     * standard input ends, because the kernel then closes the pipe.
     */
    public static void endWithParent() throws IOException {
        System.in.transferTo(OutputStream.nullOutputStream());
        Runtime.getRuntime().halt(1);
    }

    private void readOutput() {
        try (BufferedReader reader = process.inputReader()) {
            reader.lines().forEach(outputLines::add);
        } catch (IOException | UncheckedIOException e) {
            outputLines.add("the output of the process cannot be read any further: " + e);
        }
    }

    /** Returns the output so far. */
    public String output() {
        return String.join("\n", outputLines);
    }

    /** Returns the first match of a pattern in each matching line of the output so far. */
    public List<MatchResult> said(Pattern pattern) {
        return outputLines.stream()
                .map(pattern::matcher)
                .filter(Matcher::find)
                .map(Matcher::toMatchResult)
                .toList();
    }

    /** Waits until a line of the output matches a pattern, and returns the first match. */
    public MatchResult awaitSaid(Pattern pattern) {
        return awaitSaid(pattern, 1).get(0);
    }

    /** Waits until at least this many lines of the output match a pattern, and returns their matches. */
    public List<MatchResult> awaitSaid(Pattern pattern, int lineCount) {
        await().atMost(Duration.ofSeconds(60))
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> {
                    assertThat(process.isAlive()).as(output()).isTrue();
                    return said(pattern).size() >= lineCount;
                });
        return said(pattern);
    }

    /** Lets the process run for a duration, and fails if the process ends before. */
    public void runFor(Duration duration) throws InterruptedException {
        assertThat(process.waitFor(duration.toNanos(), TimeUnit.NANOSECONDS))
                .as(output())
                .isFalse();
    }

    /** Kills the process as {@code kill -9} does. Returns when the process has ended and its output is complete. */
    public void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
        outputReader.join();
    }
}

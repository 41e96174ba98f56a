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

/** A server in a process of its own, configured by environment variables, that can be killed. */
public final class ServerProcess {
    private static final String LOGGING = """
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
    private final List<String> output = new CopyOnWriteArrayList<>();
    private final Thread reading = new Thread(this::read, "server-output");

    private ServerProcess(Process process) {
        this.process = process;
        reading.setDaemon(true);
        reading.start();
    }

    /**
     * Starts a process with the class path of the test.
     *
     * @param main the main class, which starts the server and then calls {@link #endWithParent}
     * @param settings environment variables
     * @param folder receives the configuration of the log
     */
    public static ServerProcess start(Class<?> main, Map<String, String> settings, Path folder) throws IOException {
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
                        main.getName())
                .redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("PURI_"));
        builder.environment().putAll(settings);
        return new ServerProcess(builder.start());
    }

    /** Called in the child: ends it when its standard input ends, because the kernel closes that when the parent ends. */
    public static void endWithParent() throws IOException {
        System.in.transferTo(OutputStream.nullOutputStream());
        Runtime.getRuntime().halt(1);
    }

    private void read() {
        try (BufferedReader lines = process.inputReader()) {
            lines.lines().forEach(output::add);
        } catch (IOException | UncheckedIOException e) {
            output.add("its output broke off: " + e);
        }
    }

    /** The output so far. */
    public String output() {
        return String.join("\n", output);
    }

    /** The first match of a pattern in each line of the output so far. */
    public List<MatchResult> said(Pattern pattern) {
        return output.stream()
                .map(pattern::matcher)
                .filter(Matcher::find)
                .map(Matcher::toMatchResult)
                .toList();
    }

    /** Waits for a first match of a pattern. */
    public MatchResult awaitSaid(Pattern pattern) {
        return awaitSaid(pattern, 1).get(0);
    }

    /** Waits until a pattern matches so many lines. */
    public List<MatchResult> awaitSaid(Pattern pattern, int times) {
        await().atMost(Duration.ofSeconds(60))
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> {
                    assertThat(process.isAlive()).as(output()).isTrue();
                    return said(pattern).size() >= times;
                });
        return said(pattern);
    }

    /** Waits for a time in which the process must not end. */
    public void runFor(Duration time) throws InterruptedException {
        assertThat(process.waitFor(time.toNanos(), TimeUnit.NANOSECONDS))
                .as(output())
                .isFalse();
    }

    /** Kills it as {@code kill -9} does; returns when it has ended and its output is complete. */
    public void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
        reading.join();
    }
}

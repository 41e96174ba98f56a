package dev.puri.acceptance;

import dev.puri.cli.Main;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;

/** {@code puri demo} as a user starts it, in a separate process on free ports, with its sample loaded. */
final class RunningDemo implements AutoCloseable {
    private static final Pattern UP =
            Pattern.compile("running until .*: resolver ([^\\s,]+),.* broker ([^\\s,]+), schema registry (\\S+)");
    private static final Duration TIMEOUT = Duration.ofMinutes(3);

    private final Process process;
    private final MatchResult addresses;

    RunningDemo(Path folder) throws IOException {
        Path errors = folder.resolve("demo.errors");
        ProcessBuilder builder = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "--enable-native-access=ALL-UNNAMED",
                        "--sun-misc-unsafe-memory-access=allow",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        "demo",
                        "--port",
                        "0",
                        "--public-port",
                        "0",
                        "--search-port",
                        "0",
                        "--kafka-port",
                        "0",
                        "--registry-port",
                        "0"))
                .redirectOutput(folder.resolve("demo.out").toFile())
                .redirectError(errors.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("PURI_"));
        process = builder.start();
        try {
            addresses = Awaitility.await().atMost(TIMEOUT).until(() -> up(errors), match -> match != null);
        } catch (RuntimeException | Error e) {
            close();
            throw new AssertionError("the demo is not up: " + Files.readString(errors), e);
        }
    }

    private MatchResult up(Path errors) throws IOException {
        Matcher said = UP.matcher(Files.readString(errors));
        if (said.find()) {
            return said.toMatchResult();
        }
        if (!process.isAlive()) {
            throw new AssertionError("the demo has ended with " + process.exitValue());
        }
        return null;
    }

    /** The base of the resolver, and of its page. */
    String resolver() {
        return addresses.group(1);
    }

    String broker() {
        return addresses.group(2);
    }

    String schemaRegistry() {
        return addresses.group(3);
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(30, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}

package dev.puri.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The command in a child process, with the JVM options of the launcher. Its stderr goes to a file. */
final class PuriProcess implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofMinutes(3);

    private final Process process;
    private final BufferedReader out;

    PuriProcess(Path errors, String... args) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName()));
        command.addAll(List.of(args));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(errors.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("PURI_"));
        process = builder.start();
        out = process.inputReader();
    }

    /** Returns the next line of stdout, or null at its end. */
    String readLine() throws IOException {
        return out.readLine();
    }

    /** Returns the remaining lines of stdout. */
    List<String> readLines() throws IOException {
        return out.lines().toList();
    }

    /** Terminates the process with SIGTERM, as a service manager does. */
    void terminate() {
        process.destroy();
    }

    int awaitExit() throws InterruptedException {
        if (!process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("still running after " + TIMEOUT);
        }
        return process.exitValue();
    }

    /**
     * Starts {@code puri up} at free ports.
     *
     * @param data its directory
     * @param errors the file of its stderr
     */
    static PuriProcess up(Path data, Path errors) throws IOException {
        return atFreePorts(errors, "up", "--data", data.toString());
    }

    /**
     * Starts {@code puri up} or {@code puri demo} at free ports.
     *
     * @param errors the file of its stderr
     * @param args the command with its other options
     */
    static PuriProcess atFreePorts(Path errors, String... args) throws IOException {
        List<String> all = new ArrayList<>(List.of(args));
        for (String port : List.of("--port", "--public-port", "--search-port", "--kafka-port", "--registry-port")) {
            all.addAll(List.of(port, "0"));
        }
        return new PuriProcess(errors, all.toArray(String[]::new));
    }

    /** Kills the process, as {@code kill -9} does, and returns when it has ended. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
    }

    /** Lets the process run for a duration, and fails if the process ends before. */
    void runFor(Duration time) throws InterruptedException {
        assertThat(process.waitFor(time.toNanos(), TimeUnit.NANOSECONDS))
                .as("ended by itself")
                .isFalse();
    }

    /**
     * Returns the addresses of the servers of {@code puri up} as environment variables for other commands. {@code up}
     * prints the resolver's address to stdout and the other addresses to stderr.
     *
     * @param errors the file of its stderr
     */
    Map<String, String> environment(Path errors) throws IOException {
        String ready = readLine();
        String stderr = Files.readString(errors);
        assertThat(ready).as(stderr).matches("ready http://127\\.0\\.0\\.1:\\d+");
        String addresses = stderr.lines()
                .filter(line -> line.startsWith("puri: broker "))
                .findFirst()
                .orElseThrow();
        String[] words = addresses.replace(",", "").split(" ");
        return Map.of(
                "PURI_RESOLVER", ready.substring("ready ".length()),
                "PURI_BOOTSTRAP_SERVER", words[2],
                "PURI_SCHEMA_REGISTRY", words[5]);
    }

    /** Returns the running child processes of the command. */
    List<ProcessHandle> children() {
        return process.children().toList();
    }

    @Override
    public void close() throws InterruptedException {
        kill();
    }
}

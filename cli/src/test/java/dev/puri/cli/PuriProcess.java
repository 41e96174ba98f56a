package dev.puri.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The command as a process of its own, with the launcher's options; its stderr goes to a file. */
final class PuriProcess implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(3);

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

    /** The next line of stdout; null at its end. */
    String readLine() throws IOException {
        return out.readLine();
    }

    /** What is left of stdout, to its end. */
    List<String> readLines() throws IOException {
        return out.lines().toList();
    }

    /** Asks it to end, as a service manager or Ctrl-C does. */
    void terminate() {
        process.destroy();
    }

    int awaitExit() throws InterruptedException {
        if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("still running after " + PATIENCE);
        }
        return process.exitValue();
    }

    /** Processes that it started and that run. */
    List<ProcessHandle> children() {
        return process.children().toList();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}

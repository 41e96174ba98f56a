package dev.puri.benchmarks;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A program of the system, that a comparison needs and that need not be installed. */
enum Program {
    WRK("wrk", "wrk"),
    REDIS_SERVER("redis-server", "redis-server"),
    REDIS_BENCHMARK("redis-benchmark", "redis-tools"),
    /** Debian keeps it off the PATH, in a folder of its version. */
    INITDB("initdb", "postgresql");

    private static final Path DEBIANS_POSTGRES = Path.of("/usr/lib/postgresql");

    private final String command;
    private final String debianPackage;

    Program(String command, String debianPackage) {
        this.command = command;
        this.debianPackage = debianPackage;
    }

    /** What is said when it is not there. */
    String missing() {
        return command + " is not installed (apt-get install " + debianPackage + ")";
    }

    boolean isInstalled() {
        return find() != null;
    }

    /** Where it is. */
    Path path() {
        Path found = find();
        if (found == null) {
            throw new IllegalStateException(missing());
        }
        return found;
    }

    private @Nullable Path find() {
        List<Path> folders = new ArrayList<>();
        for (String folder : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
            folders.add(Path.of(folder));
        }
        if (this == INITDB && Files.isDirectory(DEBIANS_POSTGRES)) {
            try (Stream<Path> versions = Files.list(DEBIANS_POSTGRES)) {
                versions.sorted(Comparator.reverseOrder())
                        .map(version -> version.resolve("bin"))
                        .forEach(folders::add);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return folders.stream()
                .map(folder -> folder.resolve(command))
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(null);
    }

    /** Runs a command to its end; returns what it printed. */
    static String run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException(String.join(" ", command) + " failed: " + printed);
        }
        return printed;
    }

    /** A port that nobody has at the moment. */
    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    static void end(Process process) {
        process.destroy();
        try {
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}

package dev.puri.benchmarks.environment;

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
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A program of the operating system that a baseline needs. It may not be installed. */
public enum Program {
    WRK("wrk"),
    REDIS_SERVER("redis-server"),
    REDIS_BENCHMARK("redis-tools"),
    /** Debian installs it in a folder of its version, which is not in the PATH. */
    INITDB("postgresql");

    private static final Path DEBIAN_POSTGRES = Path.of("/usr/lib/postgresql");

    private final String command = name().toLowerCase(Locale.ROOT).replace('_', '-');
    private final String debianPackage;

    Program(String debianPackage) {
        this.debianPackage = debianPackage;
    }

    /** Returns a message which says that the program is not installed. */
    public String notInstalledMessage() {
        return command + " is not installed (apt-get install " + debianPackage + ")";
    }

    /** Returns whether the program was found. */
    public boolean isInstalled() {
        return find() != null;
    }

    /**
     * Returns the program's file.
     *
     * @throws IllegalStateException if it is not installed
     */
    public Path path() {
        Path found = find();
        if (found == null) {
            throw new IllegalStateException(notInstalledMessage());
        }
        return found;
    }

    private @Nullable Path find() {
        List<Path> folders = new ArrayList<>();
        for (String folder : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
            folders.add(Path.of(folder));
        }
        if (this == INITDB && Files.isDirectory(DEBIAN_POSTGRES)) {
            try (Stream<Path> versions = Files.list(DEBIAN_POSTGRES)) {
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

    /**
     * Returns a command line.
     *
     * @param options separated by blanks
     * @param arguments follow the options, and may contain blanks
     */
    public static List<String> command(Path program, String options, String... arguments) {
        List<String> words = new ArrayList<>();
        words.add(program.toString());
        words.addAll(List.of(options.split(" ", -1)));
        words.addAll(List.of(arguments));
        return words;
    }

    /** Runs a command to its end, and returns its output. */
    public static String run(List<String> command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.onExit().join().exitValue() != 0) {
            throw new IOException(String.join(" ", command) + " failed: " + output);
        }
        return output;
    }

    /** Returns a port that is free at the moment. */
    public static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** Ends a process, and kills it if it takes longer than 10 s. */
    public static void end(Process process) {
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

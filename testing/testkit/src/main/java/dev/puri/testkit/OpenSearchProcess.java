package dev.puri.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One run of an OpenSearch node in a child process. The child has a separate class path, because OpenSearch needs other
 * versions of Lucene, Netty and Jackson. The child ends with this process, even if this process is killed.
 *
 * <pre>
 * home/config/opensearch.yml   settings of the node
 * home/node_1/data             data of the node
 * home/node_1/logs/http.ports  address of the node, written as soon as it listens
 * home/output.log              output of the child process
 * </pre>
 */
final class OpenSearchProcess implements AutoCloseable {
    static final String HOST = "127.0.0.1";

    /** System property that names the folder of the node's jars. The module testkit/opensearch creates this folder. */
    static final String LIB_PROPERTY = "puri.opensearch.lib";

    private static final int MIN_JAVA_VERSION = 24;
    private static final Duration START_TIMEOUT = Duration.ofSeconds(120);
    private static final long POLL_MILLIS = 25;
    private static final int LOG_TAIL_LINES = 30;

    private final Process process;
    private final int port;

    private OpenSearchProcess(Process process, int port) {
        this.process = process;
        this.port = port;
    }

    /**
     * Starts a node and returns when it responds.
     *
     * @param port the HTTP port, or 0 for any free port
     * @throws IllegalStateException if the node does not start; the message quotes the end of its log
     */
    static OpenSearchProcess start(Path home, int port) {
        Path log = home.resolve("output.log");
        Path portsFile = home.resolve("node_1/logs/http.ports");
        Process process = launch(home, port, log, portsFile);
        boolean started = false;
        try {
            String address = await(process, log, () -> firstLine(portsFile));
            HttpRequest health = HttpRequest.newBuilder(
                            URI.create("http://" + address + "/_cluster/health?wait_for_status=yellow&timeout=10s"))
                    .timeout(Duration.ofSeconds(20))
                    .build();
            HttpClient client = HttpClient.newHttpClient();
            String readyAddress = await(process, log, () -> isHealthy(client, health) ? address : null);
            started = true;
            return new OpenSearchProcess(
                    process, Integer.parseInt(readyAddress.substring(readyAddress.lastIndexOf(':') + 1)));
        } finally {
            if (!started) {
                process.destroyForcibly();
            }
        }
    }

    private static Process launch(Path home, int port, Path log, Path portsFile) {
        if (Runtime.version().feature() < MIN_JAVA_VERSION) {
            throw new IllegalStateException("an OpenSearch node needs Java " + MIN_JAVA_VERSION
                    + " or newer; the tests run on Java " + Runtime.version().feature());
        }
        Path config = home.resolve("config");
        try {
            Files.deleteIfExists(portsFile);
            Files.createDirectories(config);
            Files.writeString(config.resolve("opensearch.yml"), """
                    cluster.name: puri-test
                    discovery.type: single-node
                    network.host: %s
                    transport.port: 0
                    node.portsfile: true
                    cluster.routing.allocation.disk.threshold_enabled: false
                    """.formatted(HOST));
            ProcessBuilder command = new ProcessBuilder(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    // The node serves small indices, so memory and start-up time matter more than throughput.
                    "-Xms256m",
                    "-Xmx512m",
                    "-XX:+UseSerialGC",
                    "-XX:TieredStopAtLevel=1",
                    "--sun-misc-unsafe-memory-access=allow",
                    "--enable-native-access=ALL-UNNAMED",
                    "-cp",
                    ownClasses()
                            + System.getProperty("path.separator")
                            + jarFolder().resolve("*"),
                    OpenSearchChild.class.getName(),
                    home.toString(),
                    config.toString(),
                    Integer.toString(port)));
            command.environment().remove("JAVA_TOOL_OPTIONS");
            command.environment().remove("JDK_JAVA_OPTIONS");
            command.redirectErrorStream(true);
            command.redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
            return command.start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits until a probe returns a value other than null, and returns the value. */
    private static <T> T await(Process process, Path log, Supplier<@Nullable T> probe) {
        long deadline = System.nanoTime() + START_TIMEOUT.toNanos();
        while (System.nanoTime() < deadline) {
            boolean alive = process.isAlive();
            T result = probe.get();
            if (result != null) {
                return result;
            }
            if (!alive) {
                throw failed("ended with status " + process.exitValue() + " while starting", log);
            }
            pause();
        }
        throw failed("was not ready within " + START_TIMEOUT.toSeconds() + " s", log);
    }

    /** Returns the first line of a file, or null if the file does not exist or is empty. */
    private static @Nullable String firstLine(Path file) {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.findFirst().orElse(null);
        } catch (IOException e) {
            return null;
        }
    }

    private static boolean isHealthy(HttpClient client, HttpRequest health) {
        try {
            return client.send(health, HttpResponse.BodyHandlers.discarding()).statusCode() == 200;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while OpenSearch started", e);
        }
    }

    private static void pause() {
        try {
            Thread.sleep(POLL_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while OpenSearch started", e);
        }
    }

    private static IllegalStateException failed(String problem, Path log) {
        try {
            List<String> lines = Files.readAllLines(log);
            List<String> tail = lines.subList(Math.max(0, lines.size() - LOG_TAIL_LINES), lines.size());
            return new IllegalStateException(
                    "OpenSearch " + problem + "; the end of " + log + ":\n  " + String.join("\n  ", tail));
        } catch (IOException e) {
            return new IllegalStateException("OpenSearch " + problem + "; its log cannot be read", e);
        }
    }

    /**
     * Returns the folder of the node's jars: the folder that the system property names, or else the folder that the
     * build creates near this module's classes.
     */
    private static Path jarFolder() {
        @Nullable String property = System.getProperty(LIB_PROPERTY);
        if (property != null) {
            return Path.of(property).toAbsolutePath();
        }
        for (@Nullable Path folder = ownClasses(); folder != null; folder = folder.getParent()) {
            Path lib = folder.resolve("opensearch/target/lib");
            if (Files.isDirectory(lib)) {
                return lib;
            }
        }
        throw new IllegalStateException("the jars of OpenSearch were not found near " + ownClasses()
                + "; build the module testkit/opensearch, or name the folder of the jars with -D" + LIB_PROPERTY
                + "=DIR");
    }

    private static Path ownClasses() {
        @Nullable
        CodeSource source = OpenSearchProcess.class.getProtectionDomain().getCodeSource();
        if (source == null) {
            throw new IllegalStateException("these classes have no code source");
        }
        return Path.of(URI.create(source.getLocation().toString()));
    }

    /** Returns the data folder of a node. */
    static Path data(Path home) {
        return home.resolve("node_1/data");
    }

    int port() {
        return port;
    }

    /** Kills the node and returns when the child process has ended. */
    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

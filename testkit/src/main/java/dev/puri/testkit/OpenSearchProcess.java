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
 * One run of an OpenSearch node: a child process with a class path of its own, because it needs other versions of Lucene, Netty and
 * Jackson. It ends with this process, even when this one is killed.
 *
 * <pre>
 * home/config/opensearch.yml   its settings
 * home/node_1/data             its data
 * home/node_1/logs/http.ports  its address, written once it listens
 * home/output.log              its output
 * </pre>
 */
final class OpenSearchProcess implements AutoCloseable {
    static final String HOST = "127.0.0.1";

    /** System property: the folder of the node's jars, which the module opensearch-node lays out. */
    static final String LIB_PROPERTY = "puri.opensearch.lib";

    private static final int JAVA_VERSION = 24;
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
     * Starts a node and returns when it answers.
     *
     * @param port where it listens, or 0 for a free one
     * @throws IllegalStateException when it does not come up; the end of its log is quoted
     */
    static OpenSearchProcess start(Path home, int port) {
        Path log = home.resolve("output.log");
        Path ports = home.resolve("node_1/logs/http.ports");
        Process process = launch(home, port, log, ports);
        boolean started = false;
        try {
            String address = await(process, log, () -> firstLine(ports));
            HttpRequest health = HttpRequest.newBuilder(
                            URI.create("http://" + address + "/_cluster/health?wait_for_status=yellow&timeout=10s"))
                    .timeout(Duration.ofSeconds(20))
                    .build();
            HttpClient client = HttpClient.newHttpClient();
            String ready = await(process, log, () -> answers(client, health) ? address : null);
            started = true;
            return new OpenSearchProcess(process, Integer.parseInt(ready.substring(ready.lastIndexOf(':') + 1)));
        } finally {
            if (!started) {
                process.destroyForcibly();
            }
        }
    }

    private static Process launch(Path home, int port, Path log, Path ports) {
        if (Runtime.version().feature() < JAVA_VERSION) {
            throw new IllegalStateException("an OpenSearch node is started with the Java of the tests, which must be "
                    + JAVA_VERSION + " or newer, not " + Runtime.version().feature());
        }
        Path config = home.resolve("config");
        try {
            Files.deleteIfExists(ports);
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
                    // It serves small indices: small and quickly up is worth more than fast.
                    "-Xms256m",
                    "-Xmx512m",
                    "-XX:+UseSerialGC",
                    "-XX:TieredStopAtLevel=1",
                    "--sun-misc-unsafe-memory-access=allow",
                    "--enable-native-access=ALL-UNNAMED",
                    "-cp",
                    ownClasses() + System.getProperty("path.separator") + lib().resolve("*"),
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

    private static <T> T await(Process process, Path log, Supplier<@Nullable T> look) {
        long deadline = System.nanoTime() + START_TIMEOUT.toNanos();
        while (System.nanoTime() < deadline) {
            boolean alive = process.isAlive();
            T found = look.get();
            if (found != null) {
                return found;
            }
            if (!alive) {
                throw failed("ended with status " + process.exitValue() + " while starting", log);
            }
            pause();
        }
        throw failed("was not ready within " + START_TIMEOUT.toSeconds() + " s", log);
    }

    private static @Nullable String firstLine(Path ports) {
        try (Stream<String> lines = Files.lines(ports)) {
            return lines.findFirst().orElse(null);
        } catch (IOException e) {
            return null;
        }
    }

    private static boolean answers(HttpClient client, HttpRequest health) {
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

    private static IllegalStateException failed(String how, Path log) {
        try {
            List<String> lines = Files.readAllLines(log);
            List<String> tail = lines.subList(Math.max(0, lines.size() - LOG_TAIL_LINES), lines.size());
            return new IllegalStateException(
                    "OpenSearch " + how + "; the end of " + log + ":\n  " + String.join("\n  ", tail));
        } catch (IOException e) {
            return new IllegalStateException("OpenSearch " + how + " and left no log", e);
        }
    }

    /** The build lays the jars out beside this module's; a launcher may name another place. */
    private static Path lib() {
        @Nullable String named = System.getProperty(LIB_PROPERTY);
        if (named != null) {
            return Path.of(named).toAbsolutePath();
        }
        for (@Nullable Path at = ownClasses(); at != null; at = at.getParent()) {
            Path lib = at.resolve("opensearch/target/lib");
            if (Files.isDirectory(lib)) {
                return lib;
            }
        }
        throw new IllegalStateException("a node's jars were not found near " + ownClasses()
                + "; build the module opensearch-node, or name their folder with -D" + LIB_PROPERTY + "=DIR");
    }

    private static Path ownClasses() {
        @Nullable
        CodeSource source = OpenSearchProcess.class.getProtectionDomain().getCodeSource();
        if (source == null) {
            throw new IllegalStateException("these classes come from nowhere");
        }
        return Path.of(URI.create(source.getLocation().toString()));
    }

    static Path data(Path home) {
        return home.resolve("node_1/data");
    }

    int port() {
        return port;
    }

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

package dev.puri.embedded;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.CodeSource;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A schema registry with Confluent's API, for demos and tests. It runs Apicurio Registry in a child process on the
 * loopback interface and keeps the schemas in an H2 file. The child ends with this process, even if this process is
 * killed.
 *
 * <p>Thread-safe once started.
 */
public final class EmbeddedRegistry implements AutoCloseable {
    /** System property that names the directory of Apicurio's distribution; the directory contains {@value #RUNNER}. */
    public static final String HOME_PROPERTY = "puri.apicurio.home";

    private static final String RUNNER = "quarkus-run.jar";
    private static final String CHILD_LOCK_FILE = "child.lock";
    private static final String API = "/apis/ccompat/v7";
    private static final int MIN_JAVA_VERSION = 21;
    private static final Duration START_TIMEOUT = Duration.ofSeconds(90);
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(10);
    private static final long POLL_MILLIS = 25;
    private static final int LOG_TAIL_LINES = 20;
    private static final Pattern LISTENING = Pattern.compile("Listening on: http://127\\.0\\.0\\.1:(\\d+)");

    /**
     * The delay after which the end of the child is reported. A signal of the terminal ends this process and the child
     * at the same time, and this process is then closing.
     */
    private static final long REPORT_DELAY_MILLIS = 1_000;

    private final DataDirectory data;
    private final Process process;
    private final int port;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private volatile boolean isClosing;

    private EmbeddedRegistry(DataDirectory data, Process process, int port) {
        this.data = data;
        this.process = process;
        this.port = port;
    }

    /**
     * Starts a schema registry and returns when it responds.
     *
     * @param data the directory for schemas, which the next start reuses, and for {@code registry.log}, which each
     *     start overwrites
     * @param port the port for clients, or 0 for any free port
     * @throws EmbeddedException if the port or the directory is in use, Apicurio is not found, this JVM is older than
     *     Java {@value #MIN_JAVA_VERSION}, or the schema registry is not ready in time; in the last case the message
     *     quotes the end of the log
     */
    public static EmbeddedRegistry start(Path data, int port) {
        Ports.requireFree(port, "the schema registry");
        Path home = apicurioHome();
        DataDirectory directory = DataDirectory.lock(data, "the schema registry");
        @Nullable Process process = null;
        boolean started = false;
        try {
            awaitEndOfPreviousChild(directory);
            process = launch(home, directory, port);
            EmbeddedRegistry registry = new EmbeddedRegistry(directory, process, awaitPort(process, log(directory)));
            registry.awaitResponse();
            process.onExit()
                    .thenRunAsync(
                            registry::reportEnd,
                            CompletableFuture.delayedExecutor(REPORT_DELAY_MILLIS, TimeUnit.MILLISECONDS));
            started = true;
            return registry;
        } finally {
            if (!started) {
                if (process != null) {
                    process.destroyForcibly();
                }
                directory.close();
            }
        }
    }

    /**
     * Waits until the child process of the previous run has ended. If the previous parent was killed, its child keeps
     * the database open for some seconds, and a second process cannot open it. The lock of the directory does not cover
     * this case, because the parent held the lock.
     */
    private static void awaitEndOfPreviousChild(DataDirectory data) {
        Path file = data.resolve(CHILD_LOCK_FILE);
        long deadline = System.nanoTime() + START_TIMEOUT.toNanos();
        // Closing the channel releases the lock, which the new child then takes.
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            while (channel.tryLock() == null) {
                if (System.nanoTime() - deadline > 0) {
                    throw new EmbeddedException(
                            "the schema registry of the previous run is still running " + START_TIMEOUT.toSeconds()
                                    + " s after the process that started it has ended; it locks " + file);
                }
                pause();
            }
        } catch (IOException e) {
            throw new EmbeddedException(file + " of the schema registry cannot be locked: " + e, e);
        }
    }

    private static Process launch(Path home, DataDirectory data, int port) {
        ProcessBuilder command = new ProcessBuilder(List.of(
                javaCommand().toString(),
                // The child serves few schemas, so memory and start-up time matter more than throughput.
                "-Xms32m",
                "-Xmx128m",
                "-XX:ReservedCodeCacheSize=48m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Djava.io.tmpdir="
                        + Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath(),
                "-D" + ChildMain.LOCK_FILE_PROPERTY + "=" + data.resolve(CHILD_LOCK_FILE),
                "-cp",
                ownClasses() + System.getProperty("path.separator") + home.resolve(RUNNER),
                ChildMain.class.getName(),
                "io.quarkus.bootstrap.runner.QuarkusEntryPoint"));
        Map<String, String> environment = command.environment();
        environment.keySet().removeIf(EmbeddedRegistry::wouldConfigureChild);
        environment.put("QUARKUS_HTTP_HOST", Ports.HOST);
        environment.put("QUARKUS_HTTP_PORT", Integer.toString(port));
        environment.put("QUARKUS_MANAGEMENT_HOST", Ports.HOST);
        environment.put("QUARKUS_MANAGEMENT_PORT", "0");
        environment.put("QUARKUS_OTEL_SDK_DISABLED", "true");
        environment.put("APICURIO_STORAGE_KIND", "sql");
        environment.put("APICURIO_STORAGE_SQL_KIND", "h2");
        environment.put("APICURIO_DATASOURCE_URL", "jdbc:h2:file:" + data.resolve("registry"));
        environment.put("APICURIO_DATASOURCE_USERNAME", "sa");
        environment.put("APICURIO_DATASOURCE_PASSWORD", "sa");
        // Quarkus reads .env and config/application.properties from its working directory, so the child must not use
        // the working directory of this process.
        command.directory(data.path().toFile());
        command.redirectErrorStream(true);
        command.redirectOutput(log(data).toFile());
        try {
            return command.start();
        } catch (IOException e) {
            throw new EmbeddedException("the schema registry could not be launched: " + e.getMessage(), e);
        }
    }

    /**
     * Returns the {@code java} command of this JVM.
     *
     * @throws EmbeddedException if this JVM is too old for the schema registry
     */
    private static Path javaCommand() {
        int version = Runtime.version().feature();
        if (version < MIN_JAVA_VERSION) {
            throw new EmbeddedException("the schema registry needs Java " + MIN_JAVA_VERSION
                    + " or newer; this process runs on Java " + version);
        }
        return Path.of(System.getProperty("java.home"), "bin", "java");
    }

    /** Whether a variable of this process would configure the child. */
    private static boolean wouldConfigureChild(String variable) {
        return variable.startsWith("QUARKUS_")
                || variable.startsWith("APICURIO_")
                || variable.equals("JAVA_TOOL_OPTIONS")
                || variable.equals("JDK_JAVA_OPTIONS");
    }

    private static Path log(DataDirectory data) {
        return data.resolve("registry.log");
    }

    /** Waits until the log contains the port that the schema registry listens on, and returns the port. */
    private static int awaitPort(Process process, Path log) {
        long deadline = System.nanoTime() + START_TIMEOUT.toNanos();
        String previousOutput = "";
        while (System.nanoTime() < deadline) {
            boolean alive = process.isAlive();
            String output = read(log);
            if (output.length() > previousOutput.length()) {
                // New log lines are progress and extend the deadline.
                previousOutput = output;
                deadline = System.nanoTime() + START_TIMEOUT.toNanos();
            }
            Matcher listening = LISTENING.matcher(output);
            if (listening.find()) {
                return Integer.parseInt(listening.group(1));
            }
            if (!alive) {
                throw failed("ended with status " + process.exitValue() + " while starting", log);
            }
            pause();
        }
        throw failed("has logged nothing for " + START_TIMEOUT.toSeconds() + " s and is not ready", log);
    }

    private void awaitResponse() {
        HttpClient client =
                HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();
        HttpRequest request = HttpRequest.newBuilder(URI.create(url() + "/subjects"))
                .timeout(Duration.ofSeconds(10))
                .build();
        long deadline = System.nanoTime() + START_TIMEOUT.toNanos();
        String lastResult = "no response";
        while (System.nanoTime() < deadline && process.isAlive()) {
            try {
                int status = client.send(request, HttpResponse.BodyHandlers.discarding())
                        .statusCode();
                if (status == 200) {
                    return;
                }
                lastResult = "status " + status;
            } catch (IOException e) {
                lastResult = e.toString();
            } catch (InterruptedException e) {
                throw interrupted(e);
            }
            pause();
        }
        throw failed("does not respond at " + request.uri() + ": " + lastResult, log(data));
    }

    private void reportEnd() {
        if (isClosing) {
            ended.complete(null);
        } else {
            ended.completeExceptionally(failed("ended with status " + process.exitValue(), log(data)));
        }
    }

    private static EmbeddedException failed(String problem, Path log) {
        List<String> lines = read(log).lines().toList();
        List<String> tail = lines.subList(Math.max(0, lines.size() - LOG_TAIL_LINES), lines.size());
        return new EmbeddedException(
                "the schema registry " + problem + "; the end of " + log + ":\n  " + String.join("\n  ", tail));
    }

    private static String read(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new EmbeddedException(file + " of the schema registry cannot be read: " + e, e);
        }
    }

    private static void pause() {
        try {
            Thread.sleep(POLL_MILLIS);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private static EmbeddedException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new EmbeddedException("interrupted while the schema registry started", e);
    }

    /**
     * Returns the directory of Apicurio's distribution: the directory that the system property names, or else the
     * directory next to this module's classes into which the build unpacks it.
     */
    private static Path apicurioHome() {
        @Nullable String property = System.getProperty(HOME_PROPERTY);
        if (property != null) {
            if (!Files.exists(Path.of(property, RUNNER))) {
                throw new EmbeddedException(
                        HOME_PROPERTY + " is " + property + ", but that directory contains no " + RUNNER);
            }
            return Path.of(property).toAbsolutePath();
        }
        for (@Nullable Path directory = ownClasses(); directory != null; directory = directory.getParent()) {
            for (String subdirectory : List.of("apicurio", "testing/embedded/target/apicurio")) {
                if (Files.exists(directory.resolve(subdirectory).resolve(RUNNER))) {
                    return directory.resolve(subdirectory);
                }
            }
        }
        throw new EmbeddedException("Apicurio's distribution was not found near " + ownClasses()
                + "; build the Maven module \"embedded\", or name the distribution's directory with -D" + HOME_PROPERTY
                + "=DIR");
    }

    private static Path ownClasses() {
        @Nullable
        CodeSource source = EmbeddedRegistry.class.getProtectionDomain().getCodeSource();
        if (source == null) {
            throw new IllegalStateException("these classes have no code source");
        }
        try {
            return Path.of(source.getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException("not a path: " + source.getLocation(), e);
        }
    }

    /** Returns the base URL of the Confluent API, e.g. {@code http://127.0.0.1:8081/apis/ccompat/v7}. */
    public String url() {
        return "http://" + Ports.HOST + ":" + port + API;
    }

    /** Returns the port for clients. */
    public int port() {
        return port;
    }

    /** Whether the child process is running. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /**
     * Returns a future that completes about a second after the child process has ended; exceptionally with an
     * {@link EmbeddedException} if it ended before {@link #close}.
     */
    public CompletableFuture<Void> ended() {
        return ended;
    }

    /** Returns the process id of the child process. */
    public long pid() {
        return process.pid();
    }

    /** Shuts the child process down, or kills it after a time-out. A second call does nothing. */
    @Override
    public void close() {
        isClosing = true;
        try {
            process.getOutputStream().close();
            if (!process.waitFor(STOP_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (IOException e) {
            process.destroyForcibly();
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        data.close();
    }
}

package dev.puri.embedded;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A schema registry with Confluent's API: Apicurio Registry in a child process, on the loopback interface, with its
 * schemas in an H2 file. It ends with this process, even if this process is killed.
 *
 * <p>Thread-safe once started.
 */
public final class EmbeddedRegistry implements AutoCloseable {
    /** System property: the directory of Apicurio's distribution, which contains {@value #RUNNER}. */
    public static final String HOME_PROPERTY = "puri.apicurio.home";

    private static final String RUNNER = "quarkus-run.jar";
    private static final String PROCESS_FILE = "registry.pid";
    private static final String API = "/apis/ccompat/v7";
    private static final int JAVA_VERSION = 21;
    private static final Duration START_TIMEOUT = Duration.ofSeconds(90);
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(10);
    private static final long POLL_MILLIS = 25;
    private static final int LOG_TAIL_LINES = 20;
    private static final Pattern LISTENING = Pattern.compile("Listening on: http://127\\.0\\.0\\.1:(\\d+)");

    private final DataDirectory data;
    private final Process process;
    private final int port;

    private EmbeddedRegistry(DataDirectory data, Process process, int port) {
        this.data = data;
        this.process = process;
        this.port = port;
    }

    /**
     * Starts a registry and returns when it responds.
     *
     * @param data its directory; its schemas are reused by the next start, and {@code registry.log} is the log of this
     *     run
     * @param port port for clients, or 0 for a free one
     * @throws EmbeddedException if the port or the directory is in use, Apicurio is not found, this JVM is
     *     older than Java {@value #JAVA_VERSION}, or the registry is not ready in time; the message quotes the end of its log
     */
    public static EmbeddedRegistry start(Path data, int port) {
        Ports.requireFree(port, "the schema registry");
        Path home = home();
        DataDirectory directory = DataDirectory.lock(data, "the schema registry");
        @Nullable Process process = null;
        boolean started = false;
        try {
            awaitEndOfPrevious(directory);
            process = launch(home, directory, port);
            EmbeddedRegistry registry = new EmbeddedRegistry(directory, process, awaitPort(process, log(directory)));
            registry.awaitResponse();
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
     * Waits for the child of a killed parent, which closes its database within some seconds; two processes cannot open
     * the database. The parent's lock of the directory is released already.
     */
    private static void awaitEndOfPrevious(DataDirectory data) {
        Path file = data.resolve(PROCESS_FILE);
        if (!Files.exists(file)) {
            return;
        }
        ProcessIdentity.parse(read(file))
                .flatMap(previous -> ProcessHandle.of(previous.pid())
                        .filter(each -> ProcessIdentity.of(each).isSameAs(previous)))
                .ifPresent(EmbeddedRegistry::awaitEnd);
    }

    private static void awaitEnd(ProcessHandle process) {
        if (!hasEnded(process)) {
            process.destroyForcibly();
            if (!hasEnded(process)) {
                throw new EmbeddedException("the schema registry of the run before, process " + process.pid()
                        + ", still runs " + STOP_TIMEOUT.toSeconds() + " s after it was killed");
            }
        }
    }

    private static boolean hasEnded(ProcessHandle process) {
        try {
            process.onExit().get(STOP_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException | ExecutionException e) {
            return false;
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private static Process launch(Path home, DataDirectory data, int port) {
        ProcessBuilder command = new ProcessBuilder(List.of(
                java().toString(),
                // It serves few schemas, so memory and start-up time matter more than throughput.
                "-Xms32m",
                "-Xmx128m",
                "-XX:ReservedCodeCacheSize=48m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Djava.io.tmpdir="
                        + Path.of(System.getProperty("java.io.tmpdir")).toAbsolutePath(),
                "-cp",
                ownClasses() + System.getProperty("path.separator") + home.resolve(RUNNER),
                ChildProcess.class.getName(),
                "io.quarkus.bootstrap.runner.QuarkusEntryPoint"));
        Map<String, String> environment = command.environment();
        environment.keySet().removeIf(EmbeddedRegistry::wouldInterfere);
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
        // Quarkus reads .env and config/application.properties in its working directory, so it must not be that of this
        // process.
        command.directory(data.resolve("").toFile());
        command.redirectErrorStream(true);
        command.redirectOutput(log(data).toFile());
        try {
            Process process = command.start();
            Files.writeString(
                    data.resolve(PROCESS_FILE),
                    ProcessIdentity.of(process.toHandle()).toString());
            return process;
        } catch (IOException e) {
            throw new EmbeddedException("the schema registry could not be launched: " + e.getMessage(), e);
        }
    }

    /** The command of this JVM's own Java, which is of a newer version than the registry needs. */
    private static Path java() {
        int version = Runtime.version().feature();
        if (version < JAVA_VERSION) {
            throw new EmbeddedException("the schema registry runs on the Java of this process and needs " + JAVA_VERSION
                    + " or newer, this is " + version);
        }
        return Path.of(System.getProperty("java.home"), "bin", "java");
    }

    /** Whether a variable of this process would configure the child. */
    private static boolean wouldInterfere(String variable) {
        return variable.startsWith("QUARKUS_")
                || variable.startsWith("APICURIO_")
                || variable.equals("JAVA_TOOL_OPTIONS")
                || variable.equals("JDK_JAVA_OPTIONS");
    }

    private static Path log(DataDirectory data) {
        return data.resolve("registry.log");
    }

    /** Reads the port from the log, so that with port 0 the registry itself chooses a free one. */
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
        throw failed("has said nothing for " + START_TIMEOUT.toSeconds() + " s and is not ready", log);
    }

    private void awaitResponse() {
        HttpClient client =
                HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();
        HttpRequest request = HttpRequest.newBuilder(URI.create(url() + "/subjects"))
                .timeout(Duration.ofSeconds(10))
                .build();
        long deadline = System.nanoTime() + START_TIMEOUT.toNanos();
        String lastResult = "no answer";
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
        throw failed("does not answer at " + request.uri() + ": " + lastResult, log(data));
    }

    private static EmbeddedException failed(String how, Path log) {
        List<String> lines = read(log).lines().toList();
        List<String> tail = lines.subList(Math.max(0, lines.size() - LOG_TAIL_LINES), lines.size());
        return new EmbeddedException(
                "the schema registry " + how + "; the end of " + log + ":\n  " + String.join("\n  ", tail));
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
     * Finds the distribution: the build unpacks it next to this module's classes, and a launcher may set another place.
     */
    private static Path home() {
        @Nullable String named = System.getProperty(HOME_PROPERTY);
        if (named != null) {
            if (!Files.exists(Path.of(named, RUNNER))) {
                throw new EmbeddedException(HOME_PROPERTY + " names " + named + ", but there is no " + RUNNER);
            }
            return Path.of(named).toAbsolutePath();
        }
        for (@Nullable Path at = ownClasses(); at != null; at = at.getParent()) {
            for (String below : List.of("apicurio", "embedded/target/apicurio")) {
                if (Files.exists(at.resolve(below).resolve(RUNNER))) {
                    return at.resolve(below);
                }
            }
        }
        throw new EmbeddedException("Apicurio's distribution was not found near " + ownClasses()
                + "; build the module embedded, or name it with -D" + HOME_PROPERTY + "=DIR");
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

    /** The base URL of the Confluent API, e.g. {@code http://127.0.0.1:8081/apis/ccompat/v7}. */
    public String url() {
        return "http://" + Ports.HOST + ":" + port + API;
    }

    /** The port for clients. */
    public int port() {
        return port;
    }

    /** Whether the child process runs. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** The child's process id. */
    public long pid() {
        return process.pid();
    }

    /** Stops the child in order, or kills it after a time-out. A second call does nothing. */
    @Override
    public void close() {
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

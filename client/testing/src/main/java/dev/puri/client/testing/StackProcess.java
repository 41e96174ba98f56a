package dev.puri.client.testing;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A complete registry as a process that runs {@code puri up}, with its own Java and class path, and its data in a temporary folder.
 *
 * <p>The process ends when its standard input ends. The kernel closes the input when this JVM ends, even if it is killed.
 */
final class StackProcess implements Registry, AutoCloseable {
    /** Longer than the limits of the parts, whose messages say more. */
    private static final Duration START_LIMIT = Duration.ofMinutes(5);

    private static final Duration STOP_LIMIT = Duration.ofSeconds(10);

    private static final int QUOTED_LINES = 20;
    private static final String READY = "ready ";
    private static final Pattern BROKER_AND_SCHEMAS =
            Pattern.compile("(?m)^puri: broker ([^\\s,]+), schema registry ([^\\s,]+),");
    private static final Pattern PUBLIC = Pattern.compile("(?m)^puri: for the public (\\S+)");
    private static final Pattern SEARCH = Pattern.compile("(?m)^puri: search (\\S+)");

    private final Process process;
    private final Path folder;
    private final String resolver;
    private final String startLog;

    private StackProcess(Process process, Path folder, String resolver, String startLog) {
        this.process = process;
        this.folder = folder;
        this.resolver = resolver;
        this.startLog = startLog;
        requireAddresses();
    }

    /**
     * Starts a registry and returns when it is ready.
     *
     * @param java the command of a Java of a sufficient version
     * @throws RegistryStartException if it does not start; the end of its output is quoted
     */
    static StackProcess start(StackFiles files, Path java) {
        @Nullable Path folder = null;
        @Nullable Process process = null;
        boolean started = false;
        try {
            folder = DataFolders.create();
            Path errors = folder.resolve("stack.log");
            process = launch(files, java, folder, errors);
            String ready = awaitReady(process, errors);
            StackProcess stack =
                    new StackProcess(process, folder, ready.substring(READY.length()), Files.readString(errors));
            started = true;
            return stack;
        } catch (IOException e) {
            throw new RegistryStartException("the registry for tests cannot be launched: " + e, e);
        } finally {
            if (!started) {
                kill(process);
                deleteQuietly(folder);
            }
        }
    }

    private static Process launch(StackFiles files, Path java, Path folder, Path errors) throws IOException {
        Path temporary = Files.createDirectory(folder.resolve("tmp"));
        List<String> command = new ArrayList<>(List.of(
                java.toAbsolutePath().toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xms64m",
                "-Xmx512m",
                "-XX:MaxDirectMemorySize=128m",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                // Native libraries are unpacked there, and deleted with the folder.
                "-Djava.io.tmpdir=" + temporary,
                "-Dpuri.apicurio.home=" + files.folder().resolve("apicurio"),
                "-cp",
                files.folder().resolve("lib") + File.separator + "*",
                files.main()));
        command.addAll(files.arguments());
        command.addAll(List.of("--data", DataFolders.data(folder).toString()));
        for (String port : List.of("--port", "--public-port", "--search-port", "--kafka-port", "--registry-port")) {
            command.addAll(List.of(port, "0"));
        }
        // Not the module's directory, where servers would read files such as .env.
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(folder.toFile()).redirectError(errors.toFile());
        // Variables that configure or instrument the tests must not reach the stack.
        builder.environment()
                .keySet()
                .removeIf(name -> name.startsWith("PURI_")
                        || name.equals("JAVA_TOOL_OPTIONS")
                        || name.equals("JDK_JAVA_OPTIONS")
                        || name.equals("_JAVA_OPTIONS"));
        builder.environment().putIfAbsent("MALLOC_ARENA_MAX", "2");
        return builder.start();
    }

    private static String awaitReady(Process process, Path errors) throws IOException {
        CompletableFuture<@Nullable String> line = new CompletableFuture<>();
        Thread reader = new Thread(
                () -> {
                    try {
                        line.complete(process.inputReader().readLine());
                    } catch (IOException e) {
                        line.complete(null);
                    }
                },
                "puri-test-stack");
        reader.setDaemon(true);
        reader.start();
        try {
            String ready = line.get(START_LIMIT.toSeconds(), TimeUnit.SECONDS);
            if (ready != null && ready.startsWith(READY)) {
                return ready;
            }
            throw failed("ended while it started", errors);
        } catch (TimeoutException | ExecutionException e) {
            throw failed("is not ready after " + START_LIMIT.toMinutes() + " minutes", errors);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RegistryStartException("interrupted while the registry for tests started", e);
        }
    }

    private static RegistryStartException failed(String how, Path errors) throws IOException {
        List<String> lines = Files.readAllLines(errors);
        return new RegistryStartException(
                "the registry for tests " + how + "; it said last:\n  "
                        + String.join("\n  ", lines.subList(Math.max(0, lines.size() - QUOTED_LINES), lines.size())),
                null);
    }

    private void requireAddresses() {
        for (String address : List.of(bootstrapServers(), schemaRegistryUrl(), publicUrl(), searchUrl())) {
            if (address.isEmpty()) {
                throw new RegistryStartException(
                        "the registry for tests does not name its addresses; are client-testing and client-testing-stack"
                                + " of one version? It said:\n"
                                + startLog,
                        null);
            }
        }
    }

    private String addressFrom(Pattern pattern, int group) {
        Matcher matcher = pattern.matcher(startLog);
        return matcher.find() ? matcher.group(group) : "";
    }

    @Override
    public String bootstrapServers() {
        return addressFrom(BROKER_AND_SCHEMAS, 1);
    }

    @Override
    public String schemaRegistryUrl() {
        return addressFrom(BROKER_AND_SCHEMAS, 2);
    }

    @Override
    public String resolverUrl() {
        return resolver;
    }

    @Override
    public String publicUrl() {
        return addressFrom(PUBLIC, 1);
    }

    @Override
    public String searchUrl() {
        return addressFrom(SEARCH, 1);
    }

    long pid() {
        return process.pid();
    }

    Path folder() {
        return folder;
    }

    /** Kills the process and deletes its data. */
    @Override
    public void close() {
        kill(process);
        deleteQuietly(folder);
    }

    private static void kill(@Nullable Process process) {
        if (process == null) {
            return;
        }
        List<ProcessHandle> all = new ArrayList<>(process.descendants().toList());
        all.add(process.toHandle());
        all.forEach(ProcessHandle::destroyForcibly);
        for (ProcessHandle each : all) {
            try {
                each.onExit().get(STOP_LIMIT.toSeconds(), TimeUnit.SECONDS);
            } catch (ExecutionException | TimeoutException e) {
                // It does not end; its files are deleted as far as possible.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private static void deleteQuietly(@Nullable Path folder) {
        if (folder == null) {
            return;
        }
        try {
            Folders.delete(folder);
        } catch (IOException e) {
            System.err.println("puri: data of the registry for tests is left in " + folder + ": " + e);
        }
    }

    @Override
    public String toString() {
        return "process " + pid() + " at " + resolver;
    }
}

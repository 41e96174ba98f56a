package dev.puri.client.testing;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A complete registry in a process that runs {@code puri up}. The process has its own Java and class path, and stores
 * its data in a temporary folder.
 *
 * <p>The process ends when its standard input is closed. The kernel closes the input when this JVM ends, also if this
 * JVM is killed.
 */
final class StackProcess implements Registry, AutoCloseable {
    /** Longer than the time limits within the process, because its own messages are more specific. */
    private static final Duration START_TIMEOUT = Duration.ofMinutes(5);

    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(10);

    private static final int MAX_QUOTED_LINES = 20;
    private static final String READY_PREFIX = "ready ";
    private static final Pattern BROKER_AND_SCHEMA_REGISTRY =
            Pattern.compile("(?m)^puri: broker ([^\\s,]+), schema registry ([^\\s,]+),");
    private static final Pattern PUBLIC_URL = Pattern.compile("(?m)^puri: for the public (\\S+)");
    private static final Pattern SEARCH_URL = Pattern.compile("(?m)^puri: search (\\S+)");

    private final Process process;
    private final Path folder;
    private final String resolverUrl;
    private final String startLog;

    private StackProcess(Process process, Path folder, String resolverUrl, String startLog) {
        this.process = process;
        this.folder = folder;
        this.resolverUrl = resolverUrl;
        this.startLog = startLog;
        requireAddresses();
    }

    /**
     * Starts a registry and returns when it is ready.
     *
     * @param java the {@code java} command, of a sufficient version
     * @throws RegistryStartException if the process does not start; the message quotes the end of its output
     */
    static StackProcess start(StackFiles files, Path java) {
        @Nullable Path folder = null;
        @Nullable Process process = null;
        boolean isStarted = false;
        try {
            folder = DataFolders.create();
            Path errors = folder.resolve("stack.log");
            process = launch(files, java, folder, errors);
            String ready = awaitReady(process, errors);
            StackProcess stack =
                    new StackProcess(process, folder, ready.substring(READY_PREFIX.length()), Files.readString(errors));
            isStarted = true;
            return stack;
        } catch (IOException e) {
            throw new RegistryStartException("the process of the registry for tests cannot be started: " + e, e);
        } finally {
            if (!isStarted) {
                kill(process);
                if (folder != null) {
                    Folders.tryDelete(folder);
                }
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
                // Native libraries are unpacked to this folder, and deleted with it.
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
        // Not the module's directory, because servers read files such as .env from the working directory.
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(folder.toFile()).redirectError(errors.toFile());
        // The process must not get variables that configure or instrument the tests.
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
        FutureTask<@Nullable String> firstLine = new FutureTask<>(process.inputReader()::readLine);
        Thread reader = new Thread(firstLine, "puri-test-stack");
        reader.setDaemon(true);
        reader.start();
        try {
            String ready = firstLine.get(START_TIMEOUT.toSeconds(), TimeUnit.SECONDS);
            if (ready != null && ready.startsWith(READY_PREFIX)) {
                return ready;
            }
            throw startFailure("ended while it started", errors);
        } catch (TimeoutException e) {
            throw startFailure("is not ready after " + START_TIMEOUT.toMinutes() + " minutes", errors);
        } catch (ExecutionException e) {
            throw startFailure("has unreadable output: " + e.getCause(), errors);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RegistryStartException("interrupted while the registry for tests started", e);
        }
    }

    private static RegistryStartException startFailure(String problem, Path errors) throws IOException {
        List<String> lines = Files.readAllLines(errors);
        return new RegistryStartException(
                "the registry for tests " + problem + "; the end of its output:\n  "
                        + String.join(
                                "\n  ", lines.subList(Math.max(0, lines.size() - MAX_QUOTED_LINES), lines.size())),
                null);
    }

    private void requireAddresses() {
        for (String address : List.of(bootstrapServers(), schemaRegistryUrl(), publicUrl(), searchUrl())) {
            if (address.isEmpty()) {
                throw new RegistryStartException(
                        "the output of the registry for tests has no addresses; do client-testing and client-testing-stack"
                                + " have the same version? The output:\n"
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
        return addressFrom(BROKER_AND_SCHEMA_REGISTRY, 1);
    }

    @Override
    public String schemaRegistryUrl() {
        return addressFrom(BROKER_AND_SCHEMA_REGISTRY, 2);
    }

    @Override
    public String resolverUrl() {
        return resolverUrl;
    }

    @Override
    public String publicUrl() {
        return addressFrom(PUBLIC_URL, 1);
    }

    @Override
    public String searchUrl() {
        return addressFrom(SEARCH_URL, 1);
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
        // If a file cannot be deleted, the next start deletes it.
        Folders.tryDelete(folder);
    }

    private static void kill(@Nullable Process process) {
        if (process == null) {
            return;
        }
        List<ProcessHandle> processes = new ArrayList<>(process.descendants().toList());
        processes.add(process.toHandle());
        processes.forEach(ProcessHandle::destroyForcibly);
        for (ProcessHandle handle : processes) {
            try {
                handle.onExit().get(STOP_TIMEOUT.toSeconds(), TimeUnit.SECONDS);
            } catch (ExecutionException | TimeoutException e) {
                // The process does not end. Its files are deleted as far as possible.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    @Override
    public String toString() {
        return "process " + pid() + " at " + resolverUrl;
    }
}

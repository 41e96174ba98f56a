package dev.puri.client.testing;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The whole registry as {@code puri up} runs it, in a process of its own with a Java and a class path of its own, and with its data in a
 * temporary folder.
 *
 * <p>The process ends when its standard input does. The kernel closes that when this JVM ends, however it ends.
 */
final class StackProcess implements Registry, AutoCloseable {
    /** The parts have time limits of their own, which are shorter and say more. */
    private static final Duration START_LIMIT = Duration.ofMinutes(5);

    private static final Duration STOP_LIMIT = Duration.ofSeconds(10);

    /** Data of a JVM that was killed is deleted when it is so old. */
    private static final Duration LEFT_OVER = Duration.ofDays(1);

    private static final String FOLDER = "puri-test-";
    private static final int QUOTED_LINES = 20;
    private static final String READY = "ready ";
    private static final Pattern BROKER_AND_SCHEMAS =
            Pattern.compile("(?m)^puri: broker ([^\\s,]+), schema registry ([^\\s,]+),");
    private static final Pattern PUBLIC = Pattern.compile("(?m)^puri: for the public (\\S+)");
    private static final Pattern SEARCH = Pattern.compile("(?m)^puri: search (\\S+)");

    private final Process process;
    private final Path folder;
    private final String resolver;
    private final String said;

    private StackProcess(Process process, Path folder, String resolver, String said) {
        this.process = process;
        this.folder = folder;
        this.resolver = resolver;
        this.said = said;
        requireAddresses();
    }

    /**
     * Starts it and returns when it answers.
     *
     * @param java the command of a Java that is new enough
     * @throws RegistryStartException when it does not start; the end of its output is quoted
     */
    static StackProcess start(StackFiles files, Path java) {
        @Nullable Path folder = null;
        @Nullable Process process = null;
        boolean started = false;
        try {
            folder = Files.createTempDirectory(FOLDER);
            Folders.deleteOlder(
                    Objects.requireNonNull(folder.getParent()),
                    FOLDER + "*",
                    Instant.now().minus(LEFT_OVER));
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
        List<String> command = new ArrayList<>(List.of(
                java.toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xms64m",
                "-Xmx512m",
                "-XX:MaxDirectMemorySize=128m",
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-Dpuri.apicurio.home=" + files.folder().resolve("apicurio"),
                "-cp",
                files.folder().resolve("lib") + File.separator + "*",
                files.main()));
        command.addAll(files.arguments());
        command.addAll(List.of("--data", folder.resolve("data").toString()));
        for (String port : List.of("--port", "--public-port", "--search-port", "--kafka-port", "--registry-port")) {
            command.addAll(List.of(port, "0"));
        }
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(errors.toFile());
        // What configures or instruments the tests must not reach the stack.
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
                                + said,
                        null);
            }
        }
    }

    private String said(Pattern pattern, int group) {
        Matcher matcher = pattern.matcher(said);
        return matcher.find() ? matcher.group(group) : "";
    }

    @Override
    public String bootstrapServers() {
        return said(BROKER_AND_SCHEMAS, 1);
    }

    @Override
    public String schemaRegistryUrl() {
        return said(BROKER_AND_SCHEMAS, 2);
    }

    @Override
    public String resolverUrl() {
        return resolver;
    }

    @Override
    public String publicUrl() {
        return said(PUBLIC, 1);
    }

    @Override
    public String searchUrl() {
        return said(SEARCH, 1);
    }

    long pid() {
        return process.pid();
    }

    Path folder() {
        return folder;
    }

    /** Kills it and deletes its data: nothing of it is needed any more. */
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
                // It was killed; its files are deleted as far as it lets them.
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

package dev.puri.cli;

import dev.puri.http.DirectoryTrees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "demo",
        description = {
            "Run the whole registry on this machine with sample data, send requests to it and show the responses."
                    + " Then keep running for your own requests. Needs no Docker, and deletes its data at the end.",
            "If a default port is in use, any free port replaces it."
        })
final class DemoCommand extends Subcommand {
    private static final Duration START_TIMEOUT = Duration.ofSeconds(20);

    @Option(
            names = "--exit",
            description = "Exit after the last response, with status 0 only if every response was as expected.")
    private boolean exit;

    @Mixin
    private PortOptions ports = new PortOptions();

    @Mixin
    private StackSettings settings = new StackSettings();

    @Override
    public Integer call() throws IOException, ExecutionException, InterruptedException {
        rootCommand().requireNoConnection("demo");
        long startNanos = System.nanoTime();
        Path data = Files.createTempDirectory("puri-demo");
        CompletableFuture<EmbeddedStack> start = new CompletableFuture<>();
        try (Lifetime.Closing closing = Lifetime.closeAtExit(() -> close(start, data))) {
            EmbeddedStack stack = start(start, data);
            say("puri: ready after " + secondsSince(startNanos) + " s, loading the sample");
            List<String> differences = new Demo(console(), stack).run();
            differences.forEach(difference -> say("puri: unexpected result: " + difference));
            say("puri: done after " + secondsSince(startNanos) + " s");
            if (!exit) {
                keepRunning(stack);
            }
            return differences.isEmpty() ? ExitStatus.DONE : ExitStatus.FAILED;
        }
    }

    private EmbeddedStack start(CompletableFuture<EmbeddedStack> start, Path data) {
        try {
            EmbeddedStack stack = EmbeddedStack.start(
                    ports.withData(data, true),
                    settings.withEnvironment(console().environment()),
                    message -> say("puri: " + message));
            start.complete(stack);
            return stack;
        } catch (RuntimeException | Error e) {
            start.completeExceptionally(e);
            throw e;
        }
    }

    private void keepRunning(EmbeddedStack stack) throws ExecutionException, InterruptedException {
        say("puri: running until you stop it (Ctrl-C): resolver " + stack.resolverUrl() + ", for the public "
                + stack.publicResolverUrl() + ", search " + stack.indexerUrl() + ", broker "
                + stack.bootstrapServers() + ", schema registry " + stack.schemaRegistryUrl());
        stack.termination().get();
    }

    private static long secondsSince(long startNanos) {
        return Math.round((System.nanoTime() - startNanos) / 1e9);
    }

    /**
     * Closes the stack and deletes its data. At Ctrl-C waits until the start ends. If it does not end soon, the servers
     * end with the process, and their data remain.
     */
    private static void close(CompletableFuture<EmbeddedStack> start, Path data) {
        try {
            start.get(START_TIMEOUT.toSeconds(), TimeUnit.SECONDS).close();
        } catch (ExecutionException e) {
            // The failed start has closed the servers.
        } catch (TimeoutException e) {
            return;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        }
        try {
            DirectoryTrees.delete(data);
        } catch (IOException e) {
            // The directory is a temporary one.
        }
    }
}

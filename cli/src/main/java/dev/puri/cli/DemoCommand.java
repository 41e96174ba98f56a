package dev.puri.cli;

import dev.puri.http.DirectoryTrees;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
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
        AtomicReference<@Nullable EmbeddedStack> started = new AtomicReference<>();
        try (Lifetime.Closing closing = Lifetime.closeAtExit(() -> close(started.get(), data))) {
            EmbeddedStack stack = EmbeddedStack.start(
                    ports.withData(data, true),
                    settings.withEnvironment(console().environment()),
                    message -> say("puri: " + message));
            started.set(stack);
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

    private void keepRunning(EmbeddedStack stack) throws ExecutionException, InterruptedException {
        say("puri: running until you stop it (Ctrl-C): resolver " + stack.resolverUrl() + ", for the public "
                + stack.publicResolverUrl() + ", search " + stack.indexerUrl() + ", broker "
                + stack.bootstrapServers() + ", schema registry " + stack.schemaRegistryUrl());
        stack.topologyTermination().get();
    }

    private static long secondsSince(long startNanos) {
        return Math.round((System.nanoTime() - startNanos) / 1e9);
    }

    /** Closes the stack, if it was started, and deletes its data. */
    private static void close(@Nullable EmbeddedStack stack, Path data) {
        if (stack != null) {
            stack.close();
        }
        try {
            DirectoryTrees.delete(data);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

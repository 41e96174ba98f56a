package dev.puri.cli;

import dev.puri.http.StateFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "demo",
        description = {
            "Run the whole registry on this machine with sample data, send requests to it and show the responses."
                    + " Then keep running for your own requests. Needs no Docker, and deletes its data at the end."
        })
final class DemoCommand extends Subcommand {
    @Option(
            names = "--exit",
            description = "Exit after the last response, with status 0 only if every response was as expected.")
    private boolean exit;

    @Option(
            names = "--port",
            paramLabel = "PORT",
            description = "Port of the resolver (default: 8080, or any free port if 8080 is in use).")
    private @Nullable Integer port;

    @Option(
            names = "--public-port",
            paramLabel = "PORT",
            description = "Port of the resolver's public listener (default: 8090, or any free port if 8090 is in use).")
    private @Nullable Integer publicPort;

    @Option(
            names = "--search-port",
            paramLabel = "PORT",
            description = "Port of the search indexer (default: 8083, or any free port if 8083 is in use).")
    private @Nullable Integer searchPort;

    @Option(
            names = "--kafka-port",
            paramLabel = "PORT",
            description = "Port of the broker (default: 9092, or any free port if 9092 is in use).")
    private @Nullable Integer kafkaPort;

    @Option(
            names = "--registry-port",
            paramLabel = "PORT",
            description = "Port of the schema registry (default: 8081, or any free port if 8081 is in use).")
    private @Nullable Integer schemaRegistryPort;

    @Mixin
    private StackSettings settings = new StackSettings();

    @Override
    public Integer call() throws IOException, ExecutionException, InterruptedException {
        rootCommand().requireNoAddress("demo");
        long startNanos = System.nanoTime();
        TemporaryStack temporary = new TemporaryStack(Files.createTempDirectory("puri-demo"));
        try (Lifetime.Closing closing = Lifetime.closeAtExit(temporary::close)) {
            EmbeddedStack.Options options = new EmbeddedStack.Options(
                    temporary.data,
                    portOr(port, 8080),
                    portOr(publicPort, 8090),
                    portOr(searchPort, 8083),
                    portOr(kafkaPort, 9092),
                    portOr(schemaRegistryPort, 8081));
            EmbeddedStack stack =
                    temporary.start(options, settings.withEnvironment(console().environment()), console());
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

    /** Returns the requested port, or else the default port if it is free, or else 0 for any free port. */
    private static int portOr(@Nullable Integer requestedPort, int defaultPort) {
        if (requestedPort != null) {
            return requestedPort;
        }
        return EmbeddedStack.isFree(defaultPort) ? defaultPort : 0;
    }

    /** A stack with a temporary directory, which is deleted after the stack is closed. */
    private static final class TemporaryStack {
        private final Path data;
        private volatile @Nullable EmbeddedStack stack;

        TemporaryStack(Path data) {
            this.data = data;
        }

        EmbeddedStack start(EmbeddedStack.Options options, StackSettings settings, Console console) {
            EmbeddedStack startedStack =
                    EmbeddedStack.start(options, settings, message -> console.say("puri: " + message));
            stack = startedStack;
            return startedStack;
        }

        void close() {
            EmbeddedStack startedStack = stack;
            if (startedStack != null) {
                startedStack.close();
            }
            try {
                StateFolder.delete(data);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}

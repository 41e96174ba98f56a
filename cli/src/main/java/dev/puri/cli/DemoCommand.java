package dev.puri.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "demo",
        description = {
            "Run the whole registry on this machine with a sample, ask it questions and show the answers;"
                    + " then stay up for yours. Needs no Docker and keeps nothing."
        })
final class DemoCommand extends Subcommand {
    @Option(
            names = "--exit",
            description = "End when everything was answered, with status 0 only if every answer was as it must be.")
    private boolean exit;

    @Option(
            names = "--port",
            paramLabel = "PORT",
            description = "The resolver's (default: 8080, or a free one if that is taken).")
    private @Nullable Integer port;

    @Option(
            names = "--public-port",
            paramLabel = "PORT",
            description = "Of the resolver's public listener (default: 8090, or a free one if that is taken).")
    private @Nullable Integer publicPort;

    @Option(
            names = "--search-port",
            paramLabel = "PORT",
            description = "The search indexer's (default: 8083, or a free one if that is taken).")
    private @Nullable Integer searchPort;

    @Option(
            names = "--kafka-port",
            paramLabel = "PORT",
            description = "The broker's (default: 9092, or a free one if that is taken).")
    private @Nullable Integer kafkaPort;

    @Option(
            names = "--registry-port",
            paramLabel = "PORT",
            description = "The schema registry's (default: 8081, or a free one if that is taken).")
    private @Nullable Integer registryPort;

    @Mixin
    private StackSettings settings = new StackSettings();

    @Override
    public Integer call() throws IOException, ExecutionException, InterruptedException {
        puri().requireNoAddress("demo");
        requirePort("--port", port);
        requirePort("--public-port", publicPort);
        requirePort("--search-port", searchPort);
        requirePort("--kafka-port", kafkaPort);
        requirePort("--registry-port", registryPort);
        long started = System.nanoTime();
        TemporaryStack temporary = new TemporaryStack(Files.createTempDirectory("puri-demo"));
        try (Lifetime.Closing closing = Lifetime.onExit(temporary)) {
            EmbeddedStack.Options options = new EmbeddedStack.Options(
                    temporary.data,
                    portOr(port, 8080),
                    portOr(publicPort, 8090),
                    portOr(searchPort, 8083),
                    portOr(kafkaPort, 9092),
                    portOr(registryPort, 8081));
            EmbeddedStack stack =
                    temporary.start(options, settings.with(console().environment()), console());
            console().say("puri: ready after " + seconds(started) + " s, loading the sample");
            List<String> differences = new Demo(console(), stack).run();
            differences.forEach(each -> console().say("puri: not as it must be: " + each));
            console().say("puri: done after " + seconds(started) + " s");
            if (!exit) {
                stayUp(stack);
            }
            return differences.isEmpty() ? ExitStatus.DONE : ExitStatus.FAILED;
        }
    }

    private void stayUp(EmbeddedStack stack) throws ExecutionException, InterruptedException {
        console()
                .say("puri: up until you end it (Ctrl-C): resolver " + stack.resolver() + ", for the public "
                        + stack.publicResolver() + ", search " + stack.search() + ", broker "
                        + stack.bootstrapServers() + ", schema registry " + stack.schemaRegistry());
        stack.ended().get();
    }

    private static long seconds(long started) {
        return Math.round((System.nanoTime() - started) / 1e9);
    }

    private static void requirePort(String flag, @Nullable Integer port) {
        if (port != null) {
            EmbeddedStack.requirePort(flag, port);
        }
    }

    private static int portOr(@Nullable Integer asked, int usual) {
        if (asked != null) {
            return asked;
        }
        return EmbeddedStack.isFree(usual) ? usual : 0;
    }

    /** A stack with a temporary directory, which is deleted after the stack is closed. */
    private static final class TemporaryStack implements Lifetime.Service {
        private final Path data;
        private volatile @Nullable EmbeddedStack stack;

        TemporaryStack(Path data) {
            this.data = data;
        }

        EmbeddedStack start(EmbeddedStack.Options options, StackSettings settings, Console console) {
            EmbeddedStack started = EmbeddedStack.start(options, settings, step -> console.say("puri: " + step));
            stack = started;
            return started;
        }

        @Override
        public void close() {
            EmbeddedStack started = stack;
            if (started != null) {
                started.close();
            }
            try (Stream<Path> below = Files.walk(data)) {
                for (Path each : below.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(each);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}

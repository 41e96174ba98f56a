package dev.puri.cli;

import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "up",
        description = {
            "Run the whole registry on this machine, without Docker, until the process is terminated: a Kafka broker,"
                    + " a schema registry, the topology, a resolver and a search indexer, all on 127.0.0.1.",
            "Prints one line when the registry is ready: ready http://127.0.0.1:8080. Keeps its data in the directory"
                    + " --data."
        })
final class UpCommand extends Subcommand {
    @Option(
            names = "--data",
            paramLabel = "DIR",
            description = "Directory for all data; created if it does not exist (default: data).")
    private Path data = Path.of("data");

    @Mixin
    private PortOptions ports = new PortOptions();

    @Mixin
    private StackSettings settings = new StackSettings();

    @Override
    public Integer call() throws ExecutionException, InterruptedException {
        rootCommand().requireNoConnection("up");
        CommandException.requireUsage(!data.toString().isBlank(), "--data must name a directory");
        EmbeddedStack stack = EmbeddedStack.start(
                ports.withData(data, false),
                settings.withEnvironment(console().environment()),
                message -> say("puri: " + message));
        say("puri: broker " + stack.bootstrapServers() + ", schema registry " + stack.schemaRegistryUrl() + ", data in "
                + data.toAbsolutePath().normalize());
        say("puri: for the public " + stack.publicResolverUrl());
        say("puri: search " + stack.indexerUrl());
        println("ready " + stack.resolverUrl());
        console().out().flush();
        Lifetime.awaitEndAndClose(stack::close, stack.termination());
        return ExitStatus.DONE;
    }
}

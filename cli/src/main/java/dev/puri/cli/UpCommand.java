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

    @Option(
            names = "--port",
            paramLabel = "PORT",
            description = "Port of the resolver (default: 8080; 0: any free port).")
    private int port = 8080;

    @Option(
            names = "--public-port",
            paramLabel = "PORT",
            description = "Port of the resolver's public listener (default: 8090; 0: any free port).")
    private int publicPort = 8090;

    @Option(
            names = "--search-port",
            paramLabel = "PORT",
            description = "Port of the search indexer (default: 8083; 0: any free port).")
    private int searchPort = 8083;

    @Option(
            names = "--kafka-port",
            paramLabel = "PORT",
            description = "Port of the broker (default: 9092; 0: any free port).")
    private int kafkaPort = 9092;

    @Option(
            names = "--registry-port",
            paramLabel = "PORT",
            description = "Port of the schema registry (default: 8081; 0: any free port).")
    private int schemaRegistryPort = 8081;

    @Mixin
    private StackSettings settings = new StackSettings();

    @Override
    public Integer call() throws ExecutionException, InterruptedException {
        rootCommand().requireNoAddress("up");
        if (data.toString().isBlank()) {
            throw CommandException.usage("--data must name a directory");
        }
        EmbeddedStack stack = EmbeddedStack.start(
                new EmbeddedStack.Options(data, port, publicPort, searchPort, kafkaPort, schemaRegistryPort),
                settings.withEnvironment(console().environment()),
                message -> say("puri: " + message));
        say("puri: broker " + stack.bootstrapServers() + ", schema registry " + stack.schemaRegistryUrl() + ", data in "
                + data.toAbsolutePath().normalize());
        say("puri: for the public " + stack.publicResolverUrl());
        say("puri: search " + stack.indexerUrl());
        println("ready " + stack.resolverUrl());
        console().out().flush();
        Lifetime.awaitEndAndClose(stack::close, stack.topologyTermination());
        return ExitStatus.DONE;
    }
}

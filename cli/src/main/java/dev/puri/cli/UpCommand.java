package dev.puri.cli;

import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "up",
        description = {
            "Run the whole registry on this machine, without Docker, until told to end: a Kafka broker, a"
                    + " schema registry, the topology, a resolver and a search indexer, all on 127.0.0.1.",
            "Prints one line when it answers: ready http://127.0.0.1:8080. What is published is kept in --data."
        })
final class UpCommand extends Subcommand {
    @Option(
            names = "--data",
            paramLabel = "DIR",
            description = "Where everything is kept; made when it is new (default: data).")
    private Path data = Path.of("data");

    @Option(names = "--port", paramLabel = "PORT", description = "The resolver's (default: 8080; 0: a free one).")
    private int port = 8080;

    @Option(
            names = "--public-port",
            paramLabel = "PORT",
            description = "Of the resolver's public listener (default: 8090; 0: a free one).")
    private int publicPort = 8090;

    @Option(
            names = "--search-port",
            paramLabel = "PORT",
            description = "The search indexer's (default: 8083; 0: a free one).")
    private int searchPort = 8083;

    @Option(names = "--kafka-port", paramLabel = "PORT", description = "The broker's (default: 9092; 0: a free one).")
    private int kafkaPort = 9092;

    @Option(
            names = "--registry-port",
            paramLabel = "PORT",
            description = "The schema registry's (default: 8081; 0: a free one).")
    private int registryPort = 8081;

    @Mixin
    private StackSettings settings = new StackSettings();

    @Override
    public Integer call() throws ExecutionException, InterruptedException {
        puri().requireNoAddress("up");
        if (data.toString().isBlank()) {
            throw CommandException.usage("--data: name a directory");
        }
        EmbeddedStack.requirePort("--port", port);
        EmbeddedStack.requirePort("--public-port", publicPort);
        EmbeddedStack.requirePort("--search-port", searchPort);
        EmbeddedStack.requirePort("--kafka-port", kafkaPort);
        EmbeddedStack.requirePort("--registry-port", registryPort);
        EmbeddedStack stack = EmbeddedStack.start(
                new EmbeddedStack.Options(data, port, publicPort, searchPort, kafkaPort, registryPort),
                settings.with(console().environment()),
                step -> console().say("puri: " + step));
        console()
                .say("puri: broker " + stack.bootstrapServers() + ", schema registry " + stack.schemaRegistry()
                        + ", data in " + data.toAbsolutePath().normalize());
        console().say("puri: for the public " + stack.publicResolver());
        console().say("puri: search " + stack.search());
        console().out().println("ready " + stack.resolver());
        console().out().flush();
        Lifetime.untilEnded(stack::close, stack.ended());
        return ExitStatus.DONE;
    }
}

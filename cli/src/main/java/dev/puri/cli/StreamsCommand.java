package dev.puri.cli;

import dev.puri.registry.RegistryStreams;
import dev.puri.registry.StreamsSettings;
import java.util.concurrent.ExecutionException;
import picocli.CommandLine.Command;

@Command(
        name = "streams",
        description = {
            "Run the topology, which decides on all events, until the process is terminated.",
            "The topics must exist; see puri topics create."
        })
final class StreamsCommand extends ServerCommand<StreamsSettings> {
    StreamsCommand() {
        super(StreamsSettings.class);
    }

    @Override
    public Integer call() throws ExecutionException, InterruptedException {
        RegistryStreams streams = RegistryStreams.start(serverSettings());
        Lifetime.awaitEndAndClose(streams::close, streams.ended());
        return ExitStatus.DONE;
    }
}

package dev.puri.cli;

import dev.puri.registry.RegistryStreams;
import dev.puri.registry.StreamsSettings;
import java.util.concurrent.ExecutionException;
import picocli.CommandLine.Command;

@Command(
        name = "streams",
        description = {
            "Run the topology that arbitrates claims, until told to end.",
            "Its topics must be there: see puri topics create."
        })
final class StreamsCommand extends ServerCommand<StreamsSettings> {
    StreamsCommand() {
        super(StreamsSettings.class);
    }

    @Override
    public Integer call() throws ExecutionException, InterruptedException {
        RegistryStreams streams = RegistryStreams.start(serverSettings());
        Lifetime.untilEnded(streams::close, streams.ended());
        return ExitStatus.DONE;
    }
}

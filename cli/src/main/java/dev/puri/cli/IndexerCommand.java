package dev.puri.cli;

import dev.puri.search.SearchServer;
import dev.puri.search.SearchSettings;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import picocli.CommandLine.Command;

@Command(
        name = "indexer",
        description =
                "Run a search indexer, which keeps one index of all shards and serves searches over HTTP, until the"
                        + " process is terminated.")
final class IndexerCommand extends ServerCommand<SearchSettings> {
    IndexerCommand() {
        super(SearchSettings.class);
    }

    @Override
    public Integer call() throws ExecutionException, InterruptedException {
        SearchServer indexer = SearchServer.start(serverSettings());
        // An indexer recovers from failures, so it ends only with the process.
        Lifetime.awaitEndAndClose(indexer::close, new CompletableFuture<>());
        return ExitStatus.DONE;
    }
}

package dev.puri.cli;

import dev.puri.resolver.Resolver;
import dev.puri.resolver.ResolverSettings;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import picocli.CommandLine.Command;

@Command(
        name = "resolver",
        description = "Run a resolver, which holds the whole identity table and serves look-ups over HTTP, until the"
                + " process is terminated.")
final class ResolverCommand extends ServerCommand<ResolverSettings> {
    ResolverCommand() {
        super(ResolverSettings.class);
    }

    @Override
    public Integer call() throws ExecutionException, InterruptedException {
        Resolver resolver = Resolver.start(serverSettings());
        // A resolver recovers from failures, so it ends only with the process.
        Lifetime.awaitEndAndClose(resolver::close, new CompletableFuture<>());
        return ExitStatus.DONE;
    }
}

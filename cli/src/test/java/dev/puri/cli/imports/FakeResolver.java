package dev.puri.cli.imports;

import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.Verdict;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/** A resolver whose verdicts a function makes. */
record FakeResolver(Function<Ref, Verdict> verdicts) implements IdentityResolver {
    @Override
    public CompletionStage<Verdict> resolveAsync(Ref ref, Duration wait) {
        return CompletableFuture.completedFuture(verdicts.apply(ref));
    }

    @Override
    public CompletionStage<List<Verdict>> resolveAllAsync(List<Ref> refs, Duration wait) {
        return CompletableFuture.completedFuture(refs.stream().map(verdicts).toList());
    }

    @Override
    public void close() {}
}

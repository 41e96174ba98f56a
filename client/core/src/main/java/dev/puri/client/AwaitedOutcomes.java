package dev.puri.client;

import dev.puri.client.resolve.IdentityResolver;
import dev.puri.client.resolve.Ref;
import dev.puri.client.resolve.ResolverException;
import dev.puri.client.resolve.Verdict;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/** Asks a resolver for the outcomes of published events, and fails the open questions when the publisher closes. */
final class AwaitedOutcomes implements AutoCloseable {
    private final IdentityResolver resolver;
    private final boolean ownsResolver;
    private final Set<CompletableFuture<PublishOutcome>> open = ConcurrentHashMap.newKeySet();
    private volatile boolean isClosed;

    /**
     * @param ownsResolver whether closing this closes the resolver
     */
    AwaitedOutcomes(IdentityResolver resolver, boolean ownsResolver) {
        this.resolver = resolver;
        this.ownsResolver = ownsResolver;
    }

    CompletionStage<PublishOutcome> await(Puri puri, Position token, Duration wait) {
        CompletableFuture<PublishOutcome> outcome = new CompletableFuture<>();
        open.add(outcome);
        var unusedRemoval = outcome.whenComplete((known, error) -> open.remove(outcome));
        if (isClosed) {
            outcome.completeExceptionally(closed());
            return outcome.minimalCompletionStage();
        }
        CompletionStage<Verdict> answer;
        try {
            answer = resolver.resolveAsync(Ref.of(puri).at(token), wait);
        } catch (RuntimeException e) {
            // A resolver of the caller may throw anything.
            outcome.completeExceptionally(failure(e));
            return outcome.minimalCompletionStage();
        }
        var unused = answer.whenComplete((verdict, error) -> {
            if (error != null) {
                outcome.completeExceptionally(failure(error));
            } else if (verdict instanceof Verdict.Malformed malformed) {
                outcome.completeExceptionally(new IllegalStateException(malformed.detail()));
            } else {
                outcome.complete(PublishOutcome.of(verdict));
            }
        });
        return outcome.minimalCompletionStage();
    }

    /** The exception of a publisher for one of a resolver. */
    private static Throwable failure(Throwable error) {
        // Stages wrap the exceptions of earlier stages.
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        if (!(cause instanceof ResolverException resolving)) {
            return cause;
        }
        return switch (resolving.kind()) {
            case UNREACHABLE, DEADLINE, CLOSED -> new IOException(cause.getMessage(), cause);
            case FULL, UNAVAILABLE, REJECTED, INTERRUPTED -> new IllegalStateException(cause.getMessage(), cause);
        };
    }

    private static IOException closed() {
        return new IOException(IdentityPublisher.CLOSED);
    }

    @Override
    public void close() {
        isClosed = true;
        open.forEach(outcome -> outcome.completeExceptionally(closed()));
        if (ownsResolver) {
            resolver.close();
        }
    }
}

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

/**
 * Asks a resolver for the outcomes of published events. Fails the outcomes that are pending when the publisher closes.
 */
final class AwaitedOutcomes implements AutoCloseable {
    private final IdentityResolver resolver;
    private final boolean ownsResolver;
    private final Set<CompletableFuture<PublishOutcome>> pending = ConcurrentHashMap.newKeySet();
    private volatile boolean isClosed;

    /**
     * @param ownsResolver whether {@link #close} also closes the resolver
     */
    AwaitedOutcomes(IdentityResolver resolver, boolean ownsResolver) {
        this.resolver = resolver;
        this.ownsResolver = ownsResolver;
    }

    CompletionStage<PublishOutcome> await(Puri puri, Position token, Duration wait) {
        CompletableFuture<PublishOutcome> outcome = new CompletableFuture<>();
        pending.add(outcome);
        var unusedRemoval = outcome.whenComplete((value, error) -> pending.remove(outcome));
        if (isClosed) {
            outcome.completeExceptionally(closedException());
            return outcome.minimalCompletionStage();
        }
        CompletionStage<Verdict> verdictStage;
        try {
            verdictStage = resolver.resolveAsync(Ref.of(puri).at(token), wait);
        } catch (RuntimeException e) {
            // The resolver may be the caller's own implementation, so it may throw any exception.
            outcome.completeExceptionally(publisherException(e));
            return outcome.minimalCompletionStage();
        }
        var unused = verdictStage.whenComplete((verdict, error) -> {
            if (error != null) {
                outcome.completeExceptionally(publisherException(error));
            } else if (verdict instanceof Verdict.Malformed malformed) {
                outcome.completeExceptionally(new IllegalStateException(malformed.detail()));
            } else {
                outcome.complete(PublishOutcome.of(verdict));
            }
        });
        return outcome.minimalCompletionStage();
    }

    /** Converts an exception of the resolver to the exception that {@link IdentityPublisher#await} documents. */
    private static Throwable publisherException(Throwable error) {
        // A dependent stage wraps the exception in a CompletionException.
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        if (!(cause instanceof ResolverException resolverException)) {
            return cause;
        }
        return switch (resolverException.kind()) {
            case UNREACHABLE, DEADLINE, CLOSED -> new IOException(cause.getMessage(), cause);
            case FULL, UNAVAILABLE, REJECTED, INTERRUPTED -> new IllegalStateException(cause.getMessage(), cause);
        };
    }

    private static IOException closedException() {
        return new IOException(IdentityPublisher.CLOSED);
    }

    @Override
    public void close() {
        isClosed = true;
        pending.forEach(outcome -> outcome.completeExceptionally(closedException()));
        if (ownsResolver) {
            resolver.close();
        }
    }
}

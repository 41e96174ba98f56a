package dev.puri.client.testing;

import dev.puri.client.Fate;
import dev.puri.client.Fate.Refused;
import dev.puri.client.resolve.ResolverException;
import dev.puri.client.resolve.Verdict;
import dev.puri.schemas.log.Reason;
import java.io.IOException;
import java.util.concurrent.CompletionException;

/** Turns the answers of a resolver into the fates and the failures that {@code IdentityPublisher.await} gives. */
final class Fates {
    private Fates() {}

    /** The fate by a verdict other than {@link Verdict.Malformed}, which is no fate. */
    static Fate of(Verdict verdict) {
        if (verdict instanceof Verdict.Refused refused) {
            return of(refused);
        }
        return verdict instanceof Verdict.NotCaughtUp ? new Fate.NotCaughtUp() : new Fate.Settled();
    }

    /** The failure of a publisher whose resolver failed. */
    static Throwable failure(Throwable error) {
        // Stages wrap what they pass on.
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        if (!(cause instanceof ResolverException resolving)) {
            return cause;
        }
        return switch (resolving.kind()) {
            case UNREACHABLE, DEADLINE, CLOSED -> new IOException(cause.getMessage(), cause);
            case FULL, UNAVAILABLE, REJECTED, INTERRUPTED -> new IllegalStateException(cause.getMessage(), cause);
        };
    }

    private static Fate of(Verdict.Refused refused) {
        String detail = refused.detail();
        return switch (Reason.valueOf(refused.reason())) {
            case PURI_TAKEN ->
                new Refused.PuriTaken(detail, refused.holderOwner(), refused.holderShard(), refused.survivor());
            case HANDLE_TAKEN -> new Refused.HandleTaken(detail);
            case NOT_ALLOWED -> new Refused.NotAllowed(detail);
            case UNKNOWN_PURI -> new Refused.UnknownPuri(detail);
            case STALE_EPOCH -> new Refused.StaleEpoch(detail);
            case OTHER_INCARNATION -> new Refused.OtherIncarnation(detail);
            case DELETED -> new Refused.Deleted(detail);
            case MERGED -> new Refused.Merged(detail, refused.survivor());
            case UNDECODABLE, MALFORMED, TOO_LARGE, WRONG_PREFIX, HANDLE_FIXED, ID_REUSED, SELF_MERGE ->
                new Refused.Other(refused.reason(), detail);
        };
    }
}

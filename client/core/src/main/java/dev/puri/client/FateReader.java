package dev.puri.client;

import dev.puri.client.resolve.ResolverException;
import dev.puri.client.resolve.Verdict;
import java.io.IOException;
import java.util.concurrent.CompletionException;

/** Reads a resolver's answer as the fate of an event. */
final class FateReader {
    private FateReader() {}

    /** Deleted, merged and unknown are answers of a table that has the event. */
    static Fate fate(Verdict verdict) {
        if (verdict instanceof Verdict.Refused refused) {
            return refused(refused);
        }
        return verdict instanceof Verdict.NotCaughtUp ? new Fate.NotCaughtUp() : new Fate.Settled();
    }

    private static Fate.Refused refused(Verdict.Refused verdict) {
        String detail = verdict.detail();
        return switch (verdict.reason()) {
            case "PURI_TAKEN" ->
                new Fate.Refused.PuriTaken(detail, verdict.holderOwner(), verdict.holderShard(), verdict.survivor());
            case "HANDLE_TAKEN" -> new Fate.Refused.HandleTaken(detail);
            case "NOT_ALLOWED" -> new Fate.Refused.NotAllowed(detail);
            case "UNKNOWN_PURI" -> new Fate.Refused.UnknownPuri(detail);
            case "STALE_EPOCH" -> new Fate.Refused.StaleEpoch(detail);
            case "OTHER_INCARNATION" -> new Fate.Refused.OtherIncarnation(detail);
            case "DELETED" -> new Fate.Refused.Deleted(detail);
            case "MERGED" -> new Fate.Refused.Merged(detail, verdict.survivor());
            default -> new Fate.Refused.Other(verdict.reason(), detail);
        };
    }

    /** The exception of a publisher for one of a resolver. */
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
}

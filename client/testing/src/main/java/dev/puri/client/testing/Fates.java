package dev.puri.client.testing;

import dev.puri.client.Fate;
import dev.puri.client.Fate.Refused;
import dev.puri.client.resolve.Verdict;
import dev.puri.schemas.log.Reason;

/** Fates of events by what a resolver says, as a publisher reports them. */
final class Fates {
    private Fates() {}

    /**
     * @throws IllegalStateException when the token is of no event of the pURI
     */
    static Fate of(Verdict verdict) {
        if (verdict instanceof Verdict.Refused refused) {
            return of(refused);
        }
        if (verdict instanceof Verdict.Malformed malformed) {
            throw new IllegalStateException(malformed.detail());
        }
        return verdict instanceof Verdict.NotCaughtUp ? new Fate.NotCaughtUp() : new Fate.Settled();
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

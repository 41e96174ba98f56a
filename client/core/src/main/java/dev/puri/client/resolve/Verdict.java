package dev.puri.client.resolve;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** What a look-up comes to. */
public sealed interface Verdict {
    /** Where the object is now; null when there is nothing to fetch. */
    default @Nullable Placement placement() {
        return null;
    }

    /**
     * It is there.
     *
     * @param handle its public name; null where there is none
     * @param epoch counts changes of ownership, from 1
     * @param createdAt by the clock of the service that created it, as are all times
     */
    record Found(
            Puri puri, @Nullable Handle handle, Placement placement, long epoch, Instant createdAt, Instant changedAt)
            implements Verdict {}

    /**
     * It goes on under another name.
     *
     * @param puri the name that was asked for, or that the handle asked for stands for
     * @param canonical the name that it goes on under; null when its chain of merges has no end
     * @param placement the survivor's; null when the survivor is not known
     * @param epoch that of the identity asked for, as are handle and times
     * @param detail where the chain of merges breaks; null when it does not
     */
    record Merged(
            Puri puri,
            @Nullable Handle handle,
            @Nullable Puri canonical,
            @Nullable Placement placement,
            long epoch,
            Instant createdAt,
            Instant changedAt,
            @Nullable String detail)
            implements Verdict {}

    /**
     * It is gone.
     *
     * @param canonical the deleted survivor, when the identity asked for was merged first; null otherwise
     */
    record Deleted(
            Puri puri,
            @Nullable Handle handle,
            @Nullable Puri canonical,
            long epoch,
            Instant createdAt,
            Instant changedAt)
            implements Verdict {}

    /** The registry knows no such name: it was never registered, or was erased. */
    record Unknown(Ref ref) implements Verdict {}

    /**
     * It is no name, or its token is none of its events'.
     *
     * @param detail what is wrong, for people
     */
    record Malformed(Ref ref, String detail) implements Verdict {}

    /**
     * The resolver had not seen the token's event by the end of the wait, or was not asked, because as many waits were under
     * way as may be; ask again.
     */
    record NotCaughtUp(Ref ref) implements Verdict {}

    /**
     * The token's event was refused.
     *
     * @param reason the name of a {@link dev.puri.schemas.log.Reason}, or of one that a later registry knows
     * @param detail what, where and why, for people; null when the resolver does not know any more
     * @param holderOwner who holds what the event asked for; null where nobody does, or that is not known
     * @param holderShard where; null likewise
     * @param survivor what a merged identity goes on as; null otherwise
     */
    record Refused(
            Ref ref,
            String reason,
            @Nullable String detail,
            @Nullable Owner holderOwner,
            @Nullable Shard holderShard,
            @Nullable Puri survivor)
            implements Verdict {}
}

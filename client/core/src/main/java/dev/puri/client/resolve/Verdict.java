package dev.puri.client.resolve;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The result of looking up a reference. */
public sealed interface Verdict {
    /** Where the object's row is; null if there is none to read. */
    default @Nullable Placement placement() {
        return null;
    }

    /**
     * The identity is active.
     *
     * @param handle its public name; null if it has none
     * @param epoch counts changes of ownership, from 1
     * @param createdAt time of creation; like all times, by the clock of the service that published the event
     */
    record Found(
            Puri puri, @Nullable Handle handle, Placement placement, long epoch, Instant createdAt, Instant changedAt)
            implements Verdict {}

    /**
     * The identity was merged into another, the survivor.
     *
     * @param puri name of the merged identity
     * @param canonical name of the survivor; null if the chain of merges has no end
     * @param placement that of the survivor; null if the survivor is not known
     * @param epoch that of the merged identity, as are handle and times
     * @param detail where the chain of merges breaks; null if it does not
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
     * The identity was deleted.
     *
     * @param canonical the deleted survivor, if the identity asked for was merged before; null otherwise
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
     * The reference is neither a pURI nor a handle, or its token is not of one of its events.
     *
     * @param detail the mistake, for people
     */
    record Malformed(Ref ref, String detail) implements Verdict {}

    /**
     * The resolver had not seen the token's event by the end of the wait, or was not asked because too many waits were under way. Ask
     * again.
     */
    record NotCaughtUp(Ref ref) implements Verdict {}

    /**
     * The registry refused the token's event.
     *
     * @param reason the name of a {@link dev.puri.schemas.log.Reason}, or of one that a later registry knows
     * @param detail the circumstances, for people; null if the resolver does not know them any more
     * @param holderOwner owner of the identity that holds the name or handle; null if there is none, or it is not known
     * @param holderShard its shard; null likewise
     * @param survivor the identity that it was merged into; null if it is not merged
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

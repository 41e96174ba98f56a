package dev.puri.client.resolve;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.identity.Owner;
import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.identity.Shard;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The result of looking up a reference. */
public sealed interface Verdict {
    /** Owner and shard of the object's row in a service's database; null if there is no row to read. */
    default @Nullable Placement placement() {
        return null;
    }

    /**
     * The identity is active.
     *
     * @param handle public name of the identity; null if it has none
     * @param epoch counts changes of ownership, from 1
     * @param createdAt time of creation. All times are by the clock of the service that published the event
     */
    record Found(
            Puri puri, @Nullable Handle handle, Placement placement, long epoch, Instant createdAt, Instant changedAt)
            implements Verdict {}

    /**
     * The identity was merged into another, the survivor.
     *
     * @param puri name of the merged identity
     * @param handle handle of the merged identity; null if it has none
     * @param canonical pURI of the survivor; null if the merges form a cycle
     * @param placement location of the survivor's row; null if the registry does not know the survivor
     * @param epoch epoch of the merged identity; both times are also those of the merged identity
     * @param detail why the survivor is not known; null if it is known
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
     * The identity was deleted, or it was merged and the survivor was deleted.
     *
     * @param canonical pURI of the deleted survivor; null if the identity itself was deleted
     */
    record Deleted(
            Puri puri,
            @Nullable Handle handle,
            @Nullable Puri canonical,
            long epoch,
            Instant createdAt,
            Instant changedAt)
            implements Verdict {}

    /**
     * The registry does not know the name: it was never registered, or the identity was erased. The registry keeps
     * deleted identities, but not erased identities.
     *
     * @param importing whether the namespace or the collection of the name is being imported, as far as the resolver
     *     has read the declarations. Then the identity may still come: do not create another one for the object, and
     *     ask again later
     */
    record Unknown(Ref ref, boolean importing) implements Verdict {
        /** Creates the verdict on a name that is not being imported. */
        public Unknown(Ref ref) {
            this(ref, false);
        }
    }

    /**
     * The reference is invalid: it is neither a pURI nor a handle, or its token belongs to an event of another
     * identity.
     *
     * @param detail a human-readable explanation of the mistake
     */
    record Malformed(Ref ref, String detail) implements Verdict {}

    /**
     * The resolver had not read the token's event by the end of the wait, or the client could not send the request
     * during the wait, because too many other requests of the client were running. Ask again.
     */
    record NotCaughtUp(Ref ref) implements Verdict {}

    /**
     * The registry refused the token's event.
     *
     * @param reason the name of a {@link dev.puri.schemas.log.Reason}, or of a reason that only a newer version of the
     *     registry knows
     * @param detail a human-readable explanation; null if the resolver no longer has it
     * @param holderOwner owner of the holder, the identity that has the name or handle; null if there is no holder or
     *     it is unknown
     * @param holderShard shard of the holder; null if there is no holder or it is unknown
     * @param survivor the identity that the holder was merged into; null if the holder is not merged
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

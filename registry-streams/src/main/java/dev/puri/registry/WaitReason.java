package dev.puri.registry;

import dev.puri.schemas.identity.Handle;
import java.util.UUID;

/** Why the first event of a parking queue cannot be decided yet. */
sealed interface WaitReason {
    WaitReason FOR_NEXT_TICK = new ForNextTick();
    WaitReason FOR_SCHEMA = new ForSchema();

    /** The clerk has not answered the claim of the handle yet. */
    record ForGrant(Handle handle, UUID eventId, IdentityHash claimant) implements WaitReason {
        boolean isAnsweredBy(Grant grant) {
            return handle.equals(grant.handle()) && eventId.equals(grant.eventId());
        }
    }

    /** The schema registry has not returned the event's schema yet. */
    record ForSchema() implements WaitReason {}

    /**
     * The declarations that this instance has read do not allow the event, but a declaration that it has not read yet
     * may.
     *
     * @param deadline time at which the event is decided in any case, in ms since the epoch
     */
    record ForDeclaration(long deadline) implements WaitReason {}

    /** The event can be decided at the next tick. Set after a restart, or if a call has spent its budget. */
    record ForNextTick() implements WaitReason {}
}

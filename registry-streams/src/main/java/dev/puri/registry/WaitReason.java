package dev.puri.registry;

import dev.puri.schemas.identity.Handle;
import java.util.UUID;

/** Why the first event of a parking queue cannot be decided yet. */
sealed interface WaitReason {
    WaitReason FOR_NEXT_TICK = new ForNextTick();
    WaitReason FOR_SCHEMA = new ForSchema();

    /** The clerk has not answered the claim yet. */
    record ForGrant(Handle handle, UUID eventId, UuidHash claimant) implements WaitReason {
        boolean isAnsweredBy(Grant grant) {
            return handle.equals(grant.handle()) && eventId.equals(grant.eventId());
        }
    }

    /** The schema registry has not returned the event's schema yet. */
    record ForSchema() implements WaitReason {}

    /**
     * This instance may not have read the declaration yet that allows the event.
     *
     * @param deadline when the event is decided without it, in ms since the epoch
     */
    record ForDeclaration(long deadline) implements WaitReason {}

    /** The next tick processes the event: after a restart, or after the budget of a call ended within a long queue. */
    record ForNextTick() implements WaitReason {}
}

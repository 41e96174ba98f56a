package dev.puri.registry;

import dev.puri.schemas.identity.Handle;
import java.util.UUID;

/** What the first event of a queue waits for. */
sealed interface Wait {
    Wait ITS_TURN = new ItsTurn();
    Wait FOR_SCHEMA = new ForSchema();

    /** The clerk has been asked. */
    record ForGrant(Handle handle, UUID eventId, UuidHash claimant) implements Wait {
        boolean isAnsweredBy(Grant grant) {
            return handle.equals(grant.handle()) && eventId.equals(grant.eventId());
        }
    }

    /** The schema registry has not said yet what the event's schema is. */
    record ForSchema() implements Wait {}

    /**
     * The collections registry may be behind the event.
     *
     * @param deadline when its word is taken as it is, ms since the epoch
     */
    record ForDeclaration(long deadline) implements Wait {}

    /** Nothing but being looked at: after a restart, or in the middle of a long queue. */
    record ItsTurn() implements Wait {}
}

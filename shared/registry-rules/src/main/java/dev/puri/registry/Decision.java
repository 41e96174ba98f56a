package dev.puri.registry;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.log.Refusal;

/**
 * What an event does to the registration of its pURI ({@link Registration#fold}): it is applied, changes nothing, is
 * refused, or has to claim a handle first.
 */
sealed interface Decision {
    Decision UNCHANGED = new Unchanged();

    /** The event is applied. {@code registration} replaces the previous registration. */
    record Applied(Registration registration) implements Decision {}

    /** The event is valid but changes nothing, for example because it is a retry. */
    record Unchanged() implements Decision {}

    /** The event is not applied. */
    record Refused(Refusal refusal) implements Decision {}

    /** The event claims a handle. The registrar asks the clerk, and decides the event again with the answer. */
    record Claim(Handle handle) implements Decision {}
}

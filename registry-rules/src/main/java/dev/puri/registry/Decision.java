package dev.puri.registry;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.log.Refusal;

/** What {@link Registration#fold} makes of an event. */
sealed interface Decision {
    Decision UNCHANGED = new Unchanged();

    /** The event counts; what is known of the pURI is now this. */
    record Applied(Registration registration) implements Decision {}

    /** The event says what is so already. */
    record Unchanged() implements Decision {}

    record Refused(Refusal refusal) implements Decision {}

    /** The clerk has to be asked for this handle before the event can be decided. */
    record Claim(Handle handle) implements Decision {}
}

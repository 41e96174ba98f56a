package dev.puri.registry;

import dev.puri.schemas.identity.Handle;
import dev.puri.schemas.log.Refusal;

/** The result of {@link Registration#fold}. */
sealed interface Decision {
    Decision UNCHANGED = new Unchanged();

    /** The event is applied; {@code registration} replaces the previous one. */
    record Applied(Registration registration) implements Decision {}

    /** The event is valid and changes nothing, for example a retry. */
    record Unchanged() implements Decision {}

    record Refused(Refusal refusal) implements Decision {}

    /** The event claims this handle; it is decided again with the clerk's answer. */
    record Claim(Handle handle) implements Decision {}
}

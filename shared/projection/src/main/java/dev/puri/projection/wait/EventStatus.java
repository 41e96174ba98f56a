package dev.puri.projection.wait;

import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Refusal;
import org.jspecify.annotations.Nullable;

/** The status of an event that a request waits for, as far as this server knows. */
public sealed interface EventStatus {
    /** Readers can see the result of the event, or of a later event of the same name. The request may be answered. */
    record Seen() implements EventStatus {
        /** The shared instance. */
        public static final Seen INSTANCE = new Seen();
    }

    /**
     * The event was refused.
     *
     * @param refusal the details; null while only the reason is known
     */
    record Refused(Position at, Reason reason, @Nullable Refusal refusal) implements EventStatus {}

    /**
     * The token is invalid, or its topic or partition has no events of the requested name. The status of a refused
     * event is {@link Refused} instead.
     */
    record Foreign(String detail) implements EventStatus {}

    /** Readers could not see the result of the event by the end of the wait. */
    record NotCaughtUp(Position at) implements EventStatus {
        /** Returns an explanation for people. */
        public String detail() {
            return "the event " + at
                    + " is pending: this server did not know its outcome by the end of the wait. If the declaration of"
                    + " its collection does not allow the event, it is decided only after 5 s, because a new"
                    + " declaration may still arrive. Ask again, or with a longer wait";
        }
    }
}

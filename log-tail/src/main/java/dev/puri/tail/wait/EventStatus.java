package dev.puri.tail.wait;

import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Refusal;
import org.jspecify.annotations.Nullable;

/** What this server knows of an event that a request waits for. */
public sealed interface EventStatus {
    /** The table has the event, or a later one of the same name: a look-up may follow. */
    record Seen() implements EventStatus {
        /** The only instance that is needed. */
        public static final Seen INSTANCE = new Seen();
    }

    /**
     * The event was refused.
     *
     * @param refusal null while only the reason is known
     */
    record Refused(Position at, Reason reason, @Nullable Refusal refusal) implements EventStatus {}

    /** By its position, the event is of another name than the request's, and no refusal says otherwise. */
    record Foreign(String detail) implements EventStatus {}

    /** The event was not seen by the end of the wait. */
    record NotCaughtUp(Position at) implements EventStatus {
        /** An explanation for people. */
        public String detail() {
            return "the event " + at
                    + " is pending: its outcome was not known here by the end of the wait. An event that"
                    + " its collection's declaration does not allow is decided only after 5 s, since the declaration may"
                    + " be under way; ask again, or with a longer wait";
        }
    }
}

package dev.puri.tail.wait;

import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Reason;
import dev.puri.schemas.log.Refusal;
import org.jspecify.annotations.Nullable;

/** What became of an event, as far as it is known here. */
public sealed interface EventStatus {
    /** It is in the table, or something after it is: the table may be asked. */
    record Seen() implements EventStatus {
        /** The one that is needed. */
        public static final Seen INSTANCE = new Seen();
    }

    /** It was refused. */
    record Refused(Position at, Reason reason, @Nullable Refusal refusal) implements EventStatus {}

    /** It is of another name than it was asked for with, as far as its position tells; and no refusal says otherwise. */
    record Foreign(String detail) implements EventStatus {}

    /** Nothing is known of it yet, and the time is over. */
    record NotCaughtUp(Position at) implements EventStatus {
        /** What that may mean, for people. */
        public String detail() {
            return "the event " + at
                    + " is pending: its outcome was not known here by the end of the wait. An event that"
                    + " its collection's declaration does not allow is decided only after 5 s, since the declaration may"
                    + " be under way; ask again, or with a longer wait";
        }
    }
}

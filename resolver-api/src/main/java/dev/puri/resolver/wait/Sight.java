package dev.puri.resolver.wait;

import dev.puri.resolver.tail.Refused;
import dev.puri.schemas.log.Position;
import org.jspecify.annotations.Nullable;

/** What became of an event, as far as it is known here. */
public sealed interface Sight {
    /** It is in the table, or something after it is: the table may be asked. */
    record Seen() implements Sight {
        static final Seen INSTANCE = new Seen();
    }

    /**
     * It was refused.
     *
     * @param reason one of {@link dev.puri.schemas.log.Reason}, or one that this program does not know
     * @param told the circumstances; null when they are not known, or not yet
     */
    record Refusal(Position at, String reason, @Nullable Refused told) implements Sight {}

    /** It is of another name than it was asked for with. */
    record Foreign(String detail) implements Sight {}

    /** Nothing is known of it yet, and the time is over. */
    record NotCaughtUp(Position at) implements Sight {}
}

package dev.puri.tail.wait;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Refusal;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The refusals that this server has read. */
public interface Refusals {
    /**
     * The refusal of the event at this position; null when none is known. An event whose key is no pURI matches any
     * name.
     *
     * @param puri the name that the event must be of; null for any
     */
    @Nullable
    Refusal at(Position position, @Nullable Puri puri);

    /**
     * The last event from before this server's start that was not refused and left a name without a row; null when none
     * is known.
     */
    @Nullable
    Position lastErasureOf(Puri puri);

    /**
     * The refusal of the event at this position, as soon as it is read. That may be shortly after the table's own topic
     * has shown that the event was refused.
     *
     * @return completes with null after the timeout
     */
    CompletionStage<@Nullable Refusal> soonAt(Position position, Duration timeout);

    /** Sets the listener that is called for each refusal and each erasure that is read. */
    void onNews(Listener listener);

    /** Receives the positions of events, on any thread; must not block. */
    @FunctionalInterface
    interface Listener {
        void onNews(Position position);
    }
}

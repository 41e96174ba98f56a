package dev.puri.projection.wait;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Refusal;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The refusals that this server has read from {@code puri.rejections.v1}. */
public interface Refusals {
    /**
     * Returns the refusal of the event at this position; null if none is known. An event whose key is not a pURI
     * matches any name.
     *
     * @param puri the name that the event must have; null for any
     */
    @Nullable
    Refusal at(Position position, @Nullable Puri puri);

    /**
     * Returns the last event before this server's start that was not refused and after which the name had no row; null
     * if none is known.
     */
    @Nullable
    Position lastEventWithoutRow(Puri puri);

    /**
     * Waits for the refusal of the event at this position. The refusal may be read shortly after the table's own topic
     * has shown that the event was refused.
     *
     * @return completes with the refusal, or with null after the timeout
     */
    CompletionStage<@Nullable Refusal> awaitAt(Position position, Duration timeout);

    /** Sets the listener that is called with the position of each refused event and each erasure that is read. */
    void setListener(Listener listener);

    /** Receives the positions of events whose outcome was read. Called on any thread; must not block. */
    @FunctionalInterface
    interface Listener {
        void onOutcome(Position position);
    }
}

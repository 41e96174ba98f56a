package dev.puri.tail.wait;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Position;
import dev.puri.schemas.log.Refusal;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The refusals that are known of. */
public interface Refusals {
    /**
     * Why the event at this position was refused; null when none is known to have been. An event whose key is no
     * pURI is of any name that it is asked for with.
     *
     * @param puri whose event it has to be; null for anybody's
     */
    @Nullable
    Refusal at(Position position, @Nullable Puri puri);

    /**
     * The last event from before this server's start that left a name without a row and was not refused; null when none is
     * known.
     */
    @Nullable
    Position lastErasureOf(Puri puri);

    /**
     * The same as {@link #at} as soon as it is known, which may be shortly after the table's own topic told of it.
     *
     * @return completes with null when the patience is over
     */
    CompletionStage<@Nullable Refusal> soonAt(Position position, Duration patience);

    /** Sets the listener that is called for each refusal and each erasure that is read. */
    void onNews(Listener listener);

    /** Receives the positions of events, on any thread; must not block. */
    @FunctionalInterface
    interface Listener {
        void told(Position position);
    }
}

package dev.puri.client;

import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;

/**
 * The result of sending one event of a batch to the brokers. {@link PublishOutcome} says whether the registry accepted
 * the event.
 */
public sealed interface Delivery {
    /** The event of the batch. */
    Event event();

    /**
     * All in-sync replicas have the event.
     *
     * @param token position of the event in the log; a look-up with this token waits for the event
     */
    record Acknowledged(Event event, Position token) implements Delivery {}

    /**
     * The event was not acknowledged. It may still be in the log. Publish the failed events again, in their order. The
     * registry recognizes the last 8 applied events of a pURI and does not apply them twice.
     *
     * <p>If the event was not sent because an earlier event of its pURI failed, the cause of the error is the {@link
     * PublishException} of the earlier event. If it was not sent because its topic or the publisher had failed ({@link
     * PublishException#scope}), the cause is the error of that failure.
     */
    record Failed(Event event, PublishException error) implements Delivery {}
}

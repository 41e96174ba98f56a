package dev.puri.client;

import dev.puri.schemas.log.Event;
import dev.puri.schemas.log.Position;

/** Whether brokers took one event of a batch. Whether the registry accepts the event is its {@link PublishOutcome}. */
public sealed interface Delivery {
    /** The event of the batch. */
    Event event();

    /**
     * All in-sync replicas have the event.
     *
     * @param token its position, to resolve with
     */
    record Acknowledged(Event event, Position token) implements Delivery {}

    /**
     * The event was not acknowledged. It may have arrived all the same; publish it again, and it counts once. If it was not
     * sent because an earlier event of its pURI failed, the error's cause is the {@link PublishException} of that event.
     */
    record Failed(Event event, PublishException error) implements Delivery {}
}

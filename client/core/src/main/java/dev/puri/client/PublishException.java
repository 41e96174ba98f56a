package dev.puri.client;

import dev.puri.schemas.identity.Puri;
import dev.puri.schemas.log.Event;
import java.util.UUID;

/**
 * An event that was not acknowledged. It may have arrived all the same: publish it again, with the
 * same event id, and it counts once.
 */
public final class PublishException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Puri puri;
    private final UUID eventId;

    PublishException(Event event, String topic, Throwable cause) {
        super(
                "event " + event.eventId() + " of " + event.puri() + " was not acknowledged on " + topic + ": "
                        + cause.getMessage(),
                cause);
        this.puri = event.puri();
        this.eventId = event.eventId();
    }

    /** The pURI of the event that failed. */
    public Puri puri() {
        return puri;
    }

    /** The id of the event that failed. */
    public UUID eventId() {
        return eventId;
    }
}

package dev.puri.client.outbox;

/**
 * Thrown if an event could not be published because the brokers, the schema registry or the producer failed. Other
 * events may fail too. The row of the event stays in the outbox.
 */
public final class RelayException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    RelayException(String message, Throwable cause) {
        super(message, cause);
    }
}

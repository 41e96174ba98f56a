package dev.puri.client.outbox;

/**
 * An event could not be published because of an error that may affect all events: of the broker, the schema registry or
 * the producer. Its row stays in the database.
 */
public final class RelayException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    RelayException(String message, Throwable cause) {
        super(message, cause);
    }
}

package dev.puri.client.outbox;

/**
 * At present no event can be published, because the broker, the schema registry or the producer failed. The rows stay
 * in the outbox.
 */
public final class RelayException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    RelayException(String message, Throwable cause) {
        super(message, cause);
    }
}
